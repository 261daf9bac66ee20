#!/usr/bin/env python3
"""A server of models without a model: it speaks the OpenAI protocol and answers what a test tells it to, faults included.

    def answer(request):                 # of a request: text, Answer(..), or a list of them, one for each of its n choices
        return "<ascendc>...</ascendc>"

    def fault(request):                  # None, or one of the faults below
        return Status(429, retry_after=1) if request.attempt == 0 else None

    with ReplayServer(answer, fault) as server:
        akgen("bench", "--provider", f"openai:{server.url}", "--model", "replay", ...)
        server.requests                  # what came, in order

What is answered may depend on the request alone (messages, seed, n, and attempt: how often the same body came before), never on
the clock or the order in which requests come, so that a run gives the same answers again.

`replay_server.py FOLDER [PORT]` answers from files: FOLDER/Sqrt.txt, or FOLDER/Sqrt/0.txt, 1.txt, ... where the seed chooses, for
prompts in which the word Sqrt stands; FOLDER/default.txt for all others.
"""
import collections
import dataclasses
import email.utils
import hashlib
import http.server
import json
import pathlib
import re
import socket
import struct
import sys
import threading
import time


@dataclasses.dataclass
class Answer:
    """One choice. `tokens`: as counted in usage (default: the words)."""
    text: str = ""
    reasoning: str = None
    finish: str = "stop"
    tokens: int = None


@dataclasses.dataclass
class Request:
    number: int      # in order of arrival
    attempt: int     # how often the same body came before
    path: str
    headers: dict
    body: dict
    key: str         # of the header Authorization; None

    @property
    def messages(self):
        """Those of a chat; of a completion the prompt as one message of the user."""
        return self.body.get("messages") or [{"role": "user", "content": self.body.get("prompt", "")}]

    @property
    def prompt(self):
        """The text of all messages."""
        return "\n\n".join(message["content"] for message in self.messages)

    @property
    def n(self):
        return self.body.get("n", 1)

    @property
    def seed(self):
        return self.body.get("seed", 0)

    @property
    def stream(self):
        return bool(self.body.get("stream"))

    @property
    def chat(self):
        return "messages" in self.body


# Faults. Each is one way in which a server fails.
@dataclasses.dataclass
class Status:
    """An HTTP status with an error body. retry_after: seconds, or a text as it is (a date)."""
    code: int
    message: str = "injected"
    retry_after: object = None
    kind: str = "injected_error"
    headers: dict = dataclasses.field(default_factory=dict)


UnknownModel = Status(404, "The model does not exist", kind="model_not_found")


@dataclasses.dataclass
class Reset:
    """The connection ends with a reset before a byte has come."""


@dataclasses.dataclass
class Stall:
    """The answer begins and never ends: after `pieces` pieces (a reply that is no stream: of its bytes) nothing comes any more."""
    pieces: int = 2


@dataclasses.dataclass
class Truncate:
    """The answer ends in the middle: properly as HTTP (or not), but its JSON or its stream is cut."""
    pieces: int = 2
    properly: bool = True


@dataclasses.dataclass
class Garbage:
    """Bytes in place of a reply, with status 200."""
    body: bytes = b"<html>502</html>"
    content_type: str = "text/html"


@dataclasses.dataclass
class EchoKey:
    """A refusal (or, code 200, an answer) in which the request's key stands."""
    code: int = 401


@dataclasses.dataclass
class ErrorInStream:
    """An event with an error after the first pieces."""
    pieces: int = 2
    code: int = 500


def fault_by_number(table):
    """A rule of {number of a request: fault}: for tests that ask one after the other."""
    return lambda request: table.get(request.number)


def words(text):
    """The pieces in which a stream brings a text; joined they are it."""
    return re.findall(r"\s*\S+|\s+$", text) if text else []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    server_version, sys_version = "replay/1", ""

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        model = {"object": "list", "data": [{"id": "replay", "object": "model"}]}
        self.send_whole(200 if self.path.endswith("/models") else 404, model)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        authorization = self.headers.get("Authorization", "")
        self.request = self.server.replay.note(self.path, dict(self.headers), json.loads(raw), hashlib.sha256(raw).hexdigest(),
                                               authorization.removeprefix("Bearer ") or None)
        try:
            self.reply(self.request)
            self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            self.server.replay.count("broken")
            self.close_connection = True

    def reply(self, request):
        replay = self.server.replay
        if not request.path.split("?")[0].endswith("/completions"):
            return self.send_whole(404, {"error": {"message": f"no such path: {request.path}"}})
        fault = replay.fault(request) if replay.fault else None
        if isinstance(fault, Status):
            return self.send_status(fault)
        if isinstance(fault, Reset):
            return self.reset()
        if isinstance(fault, Garbage):
            return self.send_bytes(200, fault.body, fault.content_type)
        if isinstance(fault, EchoKey) and fault.code != 200:
            return self.send_status(Status(fault.code, f"Incorrect API key provided: {request.key}. Check {request.key}!"))
        answers = self.answers(request, fault)
        if replay.delay:
            time.sleep(replay.delay(request) if callable(replay.delay) else replay.delay)
        if request.stream and not replay.ignore_stream:
            self.send_stream(request, answers, fault)
        else:
            self.send_answers(request, answers, fault)

    def answers(self, request, fault):
        if isinstance(fault, EchoKey):
            return [Answer(f"the key is {request.key}.", reasoning=f"I see {request.key}")] * request.n
        given = self.server.replay.answer(request)
        given = given if isinstance(given, list) else [given] * request.n
        return [answer if isinstance(answer, Answer) else Answer(answer) for answer in given]

    # Replies.
    def usage(self, request, answers):
        tokens = [len(words(answer.text)) if answer.tokens is None else answer.tokens for answer in answers]
        prompt = len(words(request.prompt))
        return {"prompt_tokens": prompt, "completion_tokens": sum(tokens), "total_tokens": prompt + sum(tokens)}

    def frame(self, request, kind):
        return {"id": f"replay-{request.attempt}", "object": kind, "created": 0, "model": request.body.get("model")}

    def choice(self, request, index, answer):
        if not request.chat:
            return {"index": index, "text": answer.text, "logprobs": None, "finish_reason": answer.finish}
        message = {"role": "assistant", "content": answer.text}
        if answer.reasoning is not None:
            message["reasoning_content"] = answer.reasoning
        return {"index": index, "message": message, "finish_reason": answer.finish}

    def send_answers(self, request, answers, fault):
        reply = self.frame(request, "chat.completion" if request.chat else "text_completion")
        reply["choices"] = [self.choice(request, i, answer) for i, answer in enumerate(answers)]
        if not self.server.replay.no_usage:
            reply["usage"] = self.usage(request, answers)
        if isinstance(fault, ErrorInStream):
            return self.send_whole(200, {"error": {"message": "injected", "code": fault.code}})
        body = json.dumps(reply).encode()
        if isinstance(fault, (Stall, Truncate)):
            half = body[:len(body) // 2]
            properly = isinstance(fault, Truncate) and fault.properly
            self.begin(200, "application/json", len(half) if properly else len(body))
            self.wfile.write(half)
            return self.stall() if isinstance(fault, Stall) else self.cut(properly)
        self.send_bytes(200, body, "application/json")

    def events(self, request, answers):
        """The pieces of all choices, one of each in turn."""
        kind = "chat.completion.chunk" if request.chat else "text_completion"
        frame = self.frame(request, kind)

        def event(index, piece, finish=None, part="content"):
            choice = {"index": index, "finish_reason": finish}
            choice.update({"delta": {part: piece} if piece is not None else {}} if request.chat else {"text": piece or ""})
            return {**frame, "choices": [choice]}
        queues = []
        for index, answer in enumerate(answers):
            queue = [event(index, "")] if request.chat else []
            queue += [event(index, piece, part="reasoning_content") for piece in words(answer.reasoning)]
            queue += [event(index, piece) for piece in words(answer.text)]
            queues.append(collections.deque(queue + [event(index, None, answer.finish)]))
        while any(queues):
            for queue in queues:
                if queue:
                    yield queue.popleft()
        if request.body.get("stream_options", {}).get("include_usage") and not self.server.replay.no_usage:
            yield {**frame, "choices": [], "usage": self.usage(request, answers)}

    def send_stream(self, request, answers, fault):
        self.begin(200, "text/event-stream", None)
        for number, event in enumerate(self.events(request, answers)):
            if isinstance(fault, (Stall, Truncate, ErrorInStream)) and number >= fault.pieces:
                break
            self.chunk(f"data: {json.dumps(event)}\n\n".encode())
            if self.server.replay.piece_delay:
                self.wfile.flush()
                time.sleep(self.server.replay.piece_delay)
        if isinstance(fault, ErrorInStream):
            error = {"error": {"message": "injected", "code": fault.code}}
            self.chunk(f"data: {json.dumps(error)}\n\n".encode())
        elif isinstance(fault, Stall):
            return self.stall()
        elif isinstance(fault, Truncate):
            self.chunk(b'data: {"id": "repl')
            if not fault.properly:
                return self.cut(False)
        elif not self.server.replay.no_done:
            self.chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def send_status(self, fault):
        self.send_whole(fault.code, {"error": {"message": fault.message, "type": fault.kind, "code": fault.kind}},
                        **fault.headers, **({} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}))

    # Bytes.
    def begin(self, status, content_type, length, **headers):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header(*(("Transfer-Encoding", "chunked") if length is None else ("Content-Length", str(length))))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def send_bytes(self, status, body, content_type, **headers):
        self.begin(status, content_type, len(body), **headers)
        self.wfile.write(body)

    def send_whole(self, status, reply, **headers):
        self.send_bytes(status, json.dumps(reply).encode(), "application/json", **headers)

    def chunk(self, piece):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    def stall(self):
        """Waits until the client goes away, or the server ends."""
        self.wfile.flush()
        self.close_connection = True
        self.connection.settimeout(0.05)
        while not self.server.replay.ended.is_set():
            try:
                if not self.connection.recv(1):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        self.server.replay.count("left")

    def cut(self, properly):
        self.wfile.flush()
        self.close_connection = not properly or self.close_connection

    def reset(self):
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (OSError, ValueError)):
            super().handle_error(request, client_address)


class ReplayServer:
    """answer and fault: above. delay: seconds before an answer, or a function of the request; piece_delay: between the pieces of a
    stream. ignore_stream: answers whole whatever is asked. no_usage, no_done: leaves these out."""

    def __init__(self, answer, fault=None, port=0, delay=0, piece_delay=0, ignore_stream=False, no_usage=False, no_done=False):
        self.answer, self.fault, self.delay, self.piece_delay = answer, fault, delay, piece_delay
        self.ignore_stream, self.no_usage, self.no_done = ignore_stream, no_usage, no_done
        self.requests, self.counts, self.ended = [], collections.Counter(), threading.Event()
        self.seen, self.lock = collections.Counter(), threading.Lock()
        self.server = Server(("127.0.0.1", port), Handler)
        self.server.replay = self
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)

    def note(self, path, headers, body, digest, key):
        with self.lock:
            request = Request(len(self.requests), self.seen[digest], path, headers, body, key)
            self.seen[digest] += 1
            self.requests.append(request)
            return request

    def count(self, name):
        """`left`: clients that went away from a stall; `broken`: connections that ended under an answer."""
        with self.lock:
            self.counts[name] += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """The port is closed: who connects now is refused."""
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()


def http_date(seconds_from_now):
    """As Retry-After may have it."""
    return email.utils.formatdate(time.time() + seconds_from_now, usegmt=True)


def closed_port_url():
    """Where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


def from_folder(folder):
    """An answer function of the files of a folder, see above."""
    folder = pathlib.Path(folder)
    files = {path.stem: [path] for path in folder.glob("*.txt")}
    for path in folder.iterdir():
        if path.is_dir():
            files[path.name] = sorted(path.glob("*.txt"), key=lambda file: (len(file.name), file.name))
    texts = {name: [path.read_text() for path in paths] for name, paths in files.items() if paths}
    names = sorted(texts, key=len, reverse=True)

    def answer(request):
        prompt = set(re.findall(r"\w+", request.prompt))
        name = next((name for name in names if name in prompt), "default")
        choices = texts.get(name, [f"no file for this prompt in {folder}"])
        return [choices[(request.seed + i) % len(choices)] for i in range(request.n)]
    return answer


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: replay_server.py FOLDER [PORT]")
    with ReplayServer(from_folder(sys.argv[1]), port=int(sys.argv[2]) if len(sys.argv) == 3 else 8000) as replay:
        print(f"{replay.url} answers from {sys.argv[1]}", flush=True)
        threading.Event().wait()
