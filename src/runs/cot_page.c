/* One HTML file in which samples are searched and read, without a network. The samples stand in it as JSON, and nothing of them is markup:
 * each text enters the page through textContent. */
#include "runs/cot_export.h"
#include "base/arena.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] =
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width,initial-scale=1'>"
    "<title>Samples</title><style>"
    ":root{color-scheme:light dark}body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;max-width:72rem;padding:1rem;"
    "color:#1d2433;background:#fff}h1{font-size:1.4rem;margin:.2rem "
    "0}form{display:flex;flex-wrap:wrap;gap:.5rem;margin:.6rem 0;"
    "position:sticky;top:0;background:inherit;padding:.5rem 0}input{flex:1 1 "
    "16rem}input,select,button{font:inherit;padding:.3rem .5rem;"
    "border:1px solid #aab2bf;border-radius:.35rem;background:transparent;color:inherit}"
    "option{color:#1d2433;background:#fff}details{border:1px solid #dfe3ea;border-radius:.4rem;padding:.35rem "
    ".6rem;margin:.35rem 0}"
    "summary{cursor:pointer;overflow-wrap:anywhere}.tag{font-size:.8rem;border-radius:.3rem;padding:.05rem "
    ".4rem;margin-right:.4rem;"
    "background:#eceff4;white-space:nowrap}.pass{background:#dafbe1;color:#116329}.bad{background:#ffebe9;color:#"
    "a40e26}"
    ".dim{color:#57606a;font-size:.85rem;overflow-wrap:anywhere}h3{font-size:.95rem;margin:.7rem 0 .2rem}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f6f8fa;padding:.6rem;border-radius:.3rem;margin:0;"
    "font-size:.85rem}"
    "@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}details{border-color:#30363d}pre,.tag{"
    "background:#161b22}"
    ".pass{background:#033a16;color:#7ee787}.bad{background:#490202;color:#ffa198}.dim{color:#8d96a0}}"
    "</style><body><h1>Samples</h1><form onsubmit='return false'><input id=words type=search placeholder='words, all "
    "of them' aria-label=words>"
    "<select id=part aria-label=part></select><select id=mode aria-label=mode></select><select id=verdict "
    "aria-label=verdict></select>"
    "<select id=split aria-label=split></select></form><p class=dim id=count aria-live=polite></p><main id=list></main>"
    "<button id=more hidden>more</button><script type=application/json id=samples>[\n";
static const char tail[] =
    "]</script><script>'use strict';\n"
    "const "
    "all=JSON.parse(document.getElementById('samples').textContent),by=id=>document.getElementById(id),keys=['part','"
    "mode','verdict','split'];\n"
    "const make=(name,text,kind)=>{const "
    "e=document.createElement(name);if(text!=null)e.textContent=text;if(kind)e.className=kind;return e};\n"
    "for(const s of all)s.low=(s.question+'\\n'+(s.chain||'')+'\\n'+s.answer).toLowerCase();\n"
    "for(const k of keys){const counts={};for(const s of all)counts[s[k]]=(counts[s[k]]||0)+1;by(k).append(new "
    "Option('any '+k,''));"
    "for(const v of Object.keys(counts).sort())by(k).append(new Option(v+' ('+counts[v]+')',v));by(k).onchange=show}\n"
    "let found=[],shown=0;const step=50;\n"
    "function entry(s){const "
    "d=make('details'),m=make('summary');m.append(make('span',s.part,'tag'),make('span',s.mode,'tag'));"
    "if(s.verdict!='none')m.append(make('span',s.verdict,'tag '+(s.verdict=='pass'?'pass':'bad')));"
    "m.append(s.question.length>160?s.question.slice(0,160)+'\\u2026':s.question);d.append(m);"
    "d.addEventListener('toggle',()=>{if(d.children.length>1)return;d.append(make('p',s.id+' \\u00b7 '+s.split+' "
    "\\u00b7 '+s.provenance+' \\u00b7 '+s.licence"
    "+(s.graph?' \\u00b7 '+s.graph:''),'dim'));for(const k of "
    "['question','chain','answer'])if(s[k])d.append(make('h3',k),make('pre',s[k]))});return d}\n"
    "function "
    "more(){by('list').append(...found.slice(shown,shown+step).map(entry));shown=Math.min(found.length,shown+step);by('"
    "more').hidden=shown>=found.length}\n"
    "function show(){const words=by('words').value.toLowerCase().split(/\\s+/).filter(w=>w);"
    "found=all.filter(s=>keys.every(k=>!by(k).value||s[k]==by(k).value)&&words.every(w=>s.low.includes(w)));"
    "by('list').textContent='';shown=0;by('count').textContent=found.length+' of '+all.length+' samples';more()}\n"
    "by('words').oninput=show;by('more').onclick=more;show();\n"
    "</script></html>\n";

struct page {
    FILE *out;
    int64_t count;
};

/* Within a script every '<' is written as an escape of JSON's, so that none ends it. */
static int put_escaped(const char *bytes, size_t length, void *out)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] == '<')
            fputs("\\u003c", out);
        else
            fputc(bytes[i], out);
    return ferror((FILE *)out) ? -1 : 0;
}

static struct akgen_error *put_sample(void *closure, const struct cot_sample *sample)
{
    struct page *page = closure;
    json_t *verdict = sample->verdict ? json_loads(sample->verdict, 0, NULL) : NULL;
    const char *word = json_string_value(json_object_get(verdict, "verdict"));
    json_t *row =
        json_pack("{s:s s:s s:s s:s s:s s:s s:s? s:s s:s s:s s:s?}", "id", sample->id, "part",
                  cot_parts.of[sample->part], "mode", cot_modes.of[sample->mode], "verdict", word ? word : "none",
                  "split", cot_splits.of[sample->split], "question", sample->question, "chain", sample->chain, "answer",
                  sample->answer, "provenance", sample->provenance, "licence", sample->licence, "graph", sample->graph);
    if (page->count++)
        fputs(",\n", page->out);
    json_dump_callback(row, put_escaped, page->out, JSON_COMPACT);
    json_decref(row);
    json_decref(verdict);
    return ferror(page->out) ? error_new("the page cannot be written: %m") : NULL;
}

struct akgen_error *cot_page(struct store *store, const struct cot_filter *filter, const char *path)
{
    struct arena arena = {0};
    const char *half = arena_printf(&arena, "%s.%d", path, (int)getpid());
    struct page page = {.out = fopen(half, "we")};
    struct akgen_error *error = page.out ? NULL : error_new("%s: %m", path);
    if (!error) {
        fputs(head, page.out);
        error = cot_store_each(store, filter, put_sample, &page);
        fputs(tail, page.out);
        if (fclose(page.out) && !error)
            error = error_new("%s: %m", path);
        if (!error && !page.count)
            error = error_new("%s: no sample is left to be shown", path);
        if (!error && rename(half, path))
            error = error_new("%s: %m", path);
        if (error)
            unlink(half);
    }
    arena_free(&arena);
    return error;
}
