/* Secrets in texts, known by what their issuers put at their head. */
#include "cot/corpus.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *head, *more; /* more: what may follow besides letters and digits */
    size_t least;            /* characters behind the head */
    const char *kind;
} heads[] = {
    {"AKIA", "", 16, "cloud key"},        {"ASIA", "", 16, "cloud key"},      {"AIza", "_-", 35, "cloud key"},
    {"ghp_", "", 36, "access token"},     {"gho_", "", 36, "access token"},   {"ghs_", "", 36, "access token"},
    {"ghu_", "", 36, "access token"},     {"ghr_", "", 36, "access token"},   {"github_pat_", "_", 40, "access token"},
    {"glpat-", "_-", 20, "access token"}, {"hf_", "", 30, "access token"},    {"sk-", "_-", 32, "API key"},
    {"xoxb-", "-", 20, "access token"},   {"xoxp-", "-", 20, "access token"}, {"pypi-", "_-", 60, "access token"},
    {"npm_", "", 36, "access token"},     {"eyJ", "_-.", 60, "signed token"}, {"-----BEGIN ", "", 0, "private key"},
};

/* Whether what follows the head is one: long enough, of several kinds of characters, as random text is and words are not. */
static bool is_secret(const char *behind, const char *more, size_t least)
{
    size_t length = 0, digits = 0, letters = 0;
    for (; behind[length] && (isalnum((unsigned char)behind[length]) || strchr(more, behind[length])); length++) {
        digits += isdigit((unsigned char)behind[length]) != 0;
        letters += isalpha((unsigned char)behind[length]) != 0;
    }
    return length >= least && digits >= 2 && letters >= 2;
}

const char *cot_secret_in(const char *text)
{
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t length = strlen(heads[i].head);
        for (const char *at = strstr(text, heads[i].head); at; at = strstr(at + 1, heads[i].head)) {
            bool begins = at == text || !isalnum((unsigned char)at[-1]);
            const char *end = at + length + strcspn(at + length, "\n");
            const char *key = strstr(at, "PRIVATE KEY-----");
            if (heads[i].least ? begins && is_secret(at + length, heads[i].more, heads[i].least) : key && key < end)
                return heads[i].kind;
        }
    }
    return NULL;
}
