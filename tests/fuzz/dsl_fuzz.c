/* Programs of any text: a tree, or a message with a line of the text; what a tree is formatted as parses, and formats to
 * itself; the checker ends with a program or a message. */
#include "dsl/dsl.h"
#include "dsl/interpret.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

void fuzz_seeds(void)
{
    static const char *const texts[] = {
        ("import tile.language as tl\n\n@ascend_kernel\ndef k(x, y, n, tile):\n    pid = tl.program_id(0)\n"
         "    for i in range(0, n, tile):  # tiles\n        at = pid * n + i + tl.arange(0, tile)\n"
         "        with tl.copyin():\n            tl.load(x + at, x_ub, mask=at < n)\n\n        # after\n"
         "    # last\n\ndef host(x: torch.Tensor, y=1e-5):\n    a, b = x.shape\n    k[a](x, y,\n      n,  # one\n"
         "      # two\n      tile)\n"),
        ("if a < b <= c and not d or -e ** -2 // f[1:, :n] != (1 if x is not None else 2,):\n    pass\nelif y: z += 1\n"
         "else:\n    x = [1, 0x1f, 1_000, .5e-3]\nwhile True:\n    break\n"),
        ("assert n % 2 == 0, \"it's\" 'a \"text\"'\n\"\"\"a\nb\"\"\"\nx = (a + # one\n  b)\nreturn\nx: int = 3\n"),
        ("try:\n    x = 1\nexcept Exception:\n  y = lambda: {}\n\tz\n"),
        ("@ascend_kernel\n"
         "def k(x, y, total, per, tile):\n"
         "    start = tl.program_id(0) * per\n"
         "    u = tl.alloc_ub(tile, dtype=tl.float32)\n"
         "    s = 0.0\n"
         "    for at in range(start, min(start + per, total), tile):\n"
         "        o = at + tl.arange(0, tile) * 2\n"
         "        with tl.copyin():\n"
         "            tl.load(x + o, u, mask=(o < total) & (o > 0))\n"
         "        with tl.compute():\n"
         "            tl.vmul(u, u[0:8], u + 8, count=tile)\n"
         "            s += tl.extract_scalar(u, 0)\n"
         "        if s > 1:\n"
         "            break\n"
         "        with tl.copyout():\n"
         "            tl.store(y + o, u)\n"
         "def h(x: torch.Tensor, y, n=1):\n"
         "    a, b = x.shape\n"
         "    w = torch.empty(a, dtype=x.dtype)\n"
         "    k[min(tl.num_vec_cores(), n)](x, w, x.numel(), tl.cdiv(b, n), tile=64)\n"),
        ("@ascend_kernel\n"
         "def k(x, y, z, w, tile):\n"
         "    kind = tl.int32 if x[0].dtype == tl.int32 else tl.float32\n"
         "    a = tl.alloc_ub(tile, dtype=kind)\n"
         "    b = tl.alloc_ub((tile, 2), dtype=tl.int64)\n"
         "    p = tl.alloc_ub(tile, dtype=tl.bool)\n"
         "    for t in range(len(x)):\n"
         "        n = min(x[t].numel(), tile)\n"
         "        with tl.copyin():\n"
         "            tl.load(x[t] + tl.arange(0, tile), a, mask=tl.arange(0, tile) < n, other=-1)\n"
         "        with tl.compute():\n"
         "            tl.vgt(p, a, 0.5)\n"
         "            tl.vnot(p, p)\n"
         "            tl.vselect(a, p, a, tl.abs(-3))\n"
         "            tl.vaxpy(a, a, 2)\n"
         "            tl.cast(b, a, round=\"down\", count=n)\n"
         "            tl.vshift_left(b, b, 60)\n"
         "            tl.vpow(b, b, -1)\n"
         "            tl.iota(a, t, step=3, count=8)\n"
         "            tl.reduce_max(a, a, a, count=n)\n"
         "        with tl.copyout():\n"
         "            tl.store_add(w + t, a, count=4)\n"
         "        tl.sync_all()\n"
         "        with tl.copyout():\n"
         "            tl.store(y + t * 8, a, count=8)\n"
         "def h(x: list[torch.Tensor], y: torch.Tensor, z: torch.Tensor = None, tile: tl.constexpr = 16):\n"
         "    k[1 if z is None else 2](x, y, z, torch.zeros(9, dtype=y.dtype), tile)\n")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fuzz_seed_text(texts[i]);
    fuzz_seed_files("tasks/npukernelbench", "program.py");
}

static int lines_of(const char *text)
{
    int lines = 1;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Runs a program on a tensor of some elements. */
static void interpret(struct arena *arena, const struct dsl_program *program, struct dsl_messages *messages)
{
    enum { ELEMENTS = 64, BYTES = 4096, TURNS = 2000 };
    float values[ELEMENTS] = {1, 2, 3};
    struct task_tensor tensor = {
        .type = AKGEN_FLOAT, .rank = 2, .dims = {ELEMENTS / 4, 4}, .elements = ELEMENTS, .values = values};
    struct task_tensor list[] = {tensor, tensor};
    int parameters = program->host->function->count;
    struct dsl_argument *arguments = arena_alloc(arena, (size_t)(parameters + 1) * sizeof *arguments);
    for (int i = 0; i < parameters; i++) {
        const char *name = program->host->function->parameters[i].name;
        bool lists = dsl_scope_find(&program->host_names, name)->type == DSL_TYPE_TENSORS;
        arguments[i] = (struct dsl_argument){
            .tensors = i < 2 ? list : NULL, .list = lists ? 2 : 0, .given = i != 1, .stored = i > 0};
    }
    struct dsl_run run = {.vector_cores = 2,
                          .cube_cores = 1,
                          .ub_bytes = BYTES,
                          .l1_bytes = BYTES,
                          .l0c_bytes = BYTES,
                          .turns_max = TURNS,
                          .arguments = arguments};
    if (dsl_interpret(arena, program, &run, messages) != (messages->count == 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct dsl_messages messages, none;
    struct text text = {0};
    const struct dsl_tree *tree = dsl_parse(&arena, "x.py", (const char *)bytes, length, &messages);
    if (!tree != (messages.count > 0))
        abort();
    for (int i = 0; i < messages.kept; i++)
        if (messages.items[i].place.line < 1 || messages.items[i].place.line > lines_of(messages.source))
            abort();
    dsl_messages_print(&messages, &text);
    text_free(&text);
    json_t *json = dsl_messages_json(&messages);
    if (!json || json_array_size(json) != (size_t)messages.kept)
        abort();
    json_decref(json);
    if (tree) {
        const struct dsl_program *program = dsl_check(&arena, tree, &messages);
        if (!program != (messages.count > 0))
            abort();
        if (program)
            interpret(&arena, program, &messages);
        const char *once = dsl_format(&arena, tree);
        tree = dsl_parse(&arena, "x.py", once, strlen(once), &none);
        if (!tree || strcmp(dsl_format(&arena, tree), once) != 0)
            abort();
    }
    arena_free(&arena);
    return 0;
}
