/* CLD2 has functions in C++ alone; three of them take and give nothing that C has not, so that they are called by the names that the compiler gave
 * them. */
#include "cot/language.h"
#include "base/array.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <string.h>

enum { UNKNOWN = 26 }; /* CLD2::UNKNOWN_LANGUAGE */

struct cot_languages {
    /* CLD2::DetectLanguageSummary(text, length, is_plain_text, language3, percent3, text_bytes, is_reliable) */
    int (*detect)(const char *text, int length, bool plain, int *languages, int *percents, int *bytes, bool *reliable);
    const char *(*code)(int language); /* CLD2::LanguageCode */
    const char **codes;                /* that are let in */
    int count, capacity;
};

static struct akgen_error *load(struct cot_languages *languages, int (**find)(const char *name))
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {{"_ZN4CLD221DetectLanguageSummaryEPKcibPNS_8LanguageEPiS4_Pb", &languages->detect},
                     {"_ZN4CLD212LanguageCodeENS_8LanguageE", &languages->code},
                     {"_ZN4CLD219GetLanguageFromNameEPKc", find}};
    void *library = dlopen("libcld2.so.0", RTLD_NOW | RTLD_LOCAL); /* for as long as the process runs */
    if (!library)
        return error_new("languages are told by CLD2, which is not there (Debian: apt-get install libcld2-0): %s",
                         dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function)
            return error_new("libcld2.so.0 has no function %s", functions[i].name);
        memcpy(functions[i].to, &function, sizeof function);
    }
    return NULL;
}

struct akgen_error *cot_languages_read(struct arena *arena, const char *codes, const struct cot_languages **result)
{
    struct cot_languages *languages = arena_alloc(arena, sizeof *languages);
    int (*find)(const char *name) = NULL;
    *result = NULL;
    if (!codes)
        return NULL;
    struct akgen_error *error = load(languages, &find);
    const char *at = codes;
    for (bool more = true; !error && more;) {
        size_t length = strcspn(at, ",");
        const char *code = arena_strndup(arena, at, length);
        if (strcmp(code, "un") != 0 && (!length || find(code) == UNKNOWN || isupper((unsigned char)*code)))
            error = error_new("no language '%s'; codes are as in ISO 639, en, zh, de, .., and un for texts of which "
                              "none is known",
                              code);
        ARRAY_ADD(arena, languages->codes, languages->count, languages->capacity, code);
        more = at[length] == ',';
        at += length + more;
    }
    *result = error ? NULL : languages;
    return error;
}

const char *cot_languages_refuse(const struct cot_languages *languages, const char *text, size_t length)
{
    int found[3], percents[3], bytes;
    bool reliable = false;
    if (!languages)
        return NULL;
    languages->detect(text, length > INT_MAX ? INT_MAX : (int)length, true, found, percents, &bytes, &reliable);
    const char *code = reliable ? languages->code(found[0]) : "un";
    for (int i = 0; i < languages->count; i++) { /* "zh" is "zh-Hant", too */
        size_t some = strlen(languages->codes[i]);
        if (strncmp(code, languages->codes[i], some) == 0 && (!code[some] || code[some] == '-'))
            return NULL;
    }
    return strcmp(code, "un") == 0 ? "in no known language" : "in another language";
}
