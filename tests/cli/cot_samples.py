"""A database of samples for tests, written without akgen: tables as docs/cot.md has them."""
import hashlib
import json
import sqlite3


class Samples:
    def __init__(self, path):
        """A new file."""
        self.db = sqlite3.connect(path)
        self.db.executescript("""
            CREATE TABLE samples (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, part TEXT NOT NULL, mode TEXT NOT NULL,
             question TEXT NOT NULL, chain TEXT, answer TEXT NOT NULL, verdict TEXT, provenance TEXT NOT NULL, licence TEXT NOT NULL,
             graph TEXT, split TEXT NOT NULL, bytes INTEGER NOT NULL, tags TEXT, step TEXT NOT NULL, source TEXT NOT NULL);
            CREATE TABLE done (step TEXT, source TEXT, samples INTEGER, finished TEXT, PRIMARY KEY (step, source));
            CREATE TABLE dropped (step TEXT, source TEXT, reason TEXT, count INTEGER, PRIMARY KEY (step, source, reason));
            CREATE VIRTUAL TABLE words USING fts5 (question, chain, answer, content='samples', content_rowid='number');
            CREATE TRIGGER samples_words AFTER INSERT ON samples BEGIN INSERT INTO words (rowid, question, chain, answer)
             VALUES (new.number, new.question, new.chain, new.answer); END;
            PRAGMA user_version = 1;
            PRAGMA application_id = 1095459700;""")

    def add(self, part, question, answer, chain=None, mode="text", verdict=None, licence="unknown", split="train", tags=None,
            graph=None, provenance="a test", step="step", source="source"):
        identity = hashlib.md5(f"{part}\0{question}\0{answer}".encode()).hexdigest()
        size = sum(len(text.encode()) for text in (question, chain or "", answer))
        self.db.execute("INSERT INTO samples (id, part, mode, question, chain, answer, verdict, provenance, licence, graph, split,"
                        " bytes, tags, step, source) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                        (identity, part, mode, question, chain, answer, verdict and json.dumps({"verdict": verdict}), provenance,
                         licence, graph, split, size, tags and json.dumps(tags), step, source))
        return identity

    def drop(self, step, reason, count, source="source"):
        self.db.execute("INSERT INTO dropped VALUES (?,?,?,?)", (step, source, reason, count))

    def commit(self):
        self.db.commit()
