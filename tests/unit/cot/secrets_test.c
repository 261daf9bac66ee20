/* Random keys of every form, as they stand in texts, are found; words, names, placeholders and this repository's files are none. No key stands in
 * this file: a form has braces where the random characters are. */
#include "base/files.h"
#include "base/random.h"
#include "base/text.h"
#include "cot/corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DIGITS   "0123456789"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LETTERS  CAPITALS "abcdefghijklmnopqrstuvwxyz"
static const char *const alphabets[128] = {
    ['c'] = CAPITALS "234567", ['d'] = DIGITS,         ['h'] = DIGITS "abcdef",     ['D'] = CAPITALS DIGITS,
    ['l'] = LETTERS,           ['w'] = LETTERS DIGITS, ['u'] = LETTERS DIGITS "-_", ['b'] = LETTERS DIGITS "+/",
};
#define UTF8_BOM "\xef\xbb\xbf"

/* {w36}: 36 random characters of an alphabet; {B40}: of base64's, with its slashes escaped as JSON may have them. */
static const char *const forms[] = {
    "AKIA{c16}",
    "ASIA{c16}",
    "ABIA{c16}",
    "ACCA{c16}",
    "AIza{u35}",
    "GOCSPX-{u28}",
    "ya29.{u120}",
    "LTAI{w20}",
    "AKID{w32}",
    "AWS_SECRET_ACCESS_KEY={b40}",
    "aws_secret_access_key = {b40}",
    "'SecretAccessKey': '{b40}'",
    "\\\"secretAccessKey\\\": \\\"{B40}\\\"",
    "<SecretAccessKey>{b40}</SecretAccessKey>",
    "--secret-access-key {b40}",
    "awsSecretAccessKey: {b40}",
    "\"aws_secret_key\" => \"{b40}\"",
    "AccountName=a;AccountKey={b86}==;EndpointSuffix=core",
    "Endpoint=sb://a/;SharedAccessKeyName=Root;SharedAccessKey={b43}=",
    "dop_v1_{h64}",
    "dapi{h32}",
    "hvs.{u95}",
    "ghp_{w36}",
    "gho_{w36}",
    "ghs_{w36}",
    "ghu_{w36}",
    "ghr_{w76}",
    "github_pat_{w22}_{w59}",
    "https://x:ghp_{w36}@github.com/a/b",
    "glpat-{u20}",
    "gldt-{u20}",
    "glrt-{u20}",
    "glptt-{h40}",
    "gloas-{h64}",
    "npm_{w36}",
    "//registry.npmjs.org/:_authToken=npm_{w36}",
    "pypi-AgEIcHlwaS5vcmc{u150}",
    "rubygems_{h48}",
    "dckr_pat_{u27}",
    "hf_{w34}",
    "api_org_{w34}",
    "sk-{w48}",
    "sk-{h32}",
    "sk-{w20}T3BlbkFJ{w20}",
    "sk-proj-{u156}",
    "sk-svcacct-{u156}",
    "sk-admin-{u156}",
    "sk-ant-api03-{u93}AA",
    "sk-ant-admin01-{u93}AA",
    "sk-or-v1-{h64}",
    "gsk_{w52}",
    "xai-{w80}",
    "nvapi-{u64}",
    "r8_{w37}",
    "pplx-{w48}",
    "xoxb-{d12}-{d13}-{w24}",
    "xoxb-{d12}-{w24}",
    "xoxp-{d12}-{d12}-{d13}-{h32}",
    "xoxs-{d10}-{d10}-{d10}-{h10}",
    "xoxe-1-{w146}",
    "xoxe.xoxp-1-{w163}",
    "xoxe.xoxb-1-{w163}",
    "xapp-1-A{D10}-{d13}-{h64}",
    "https://hooks.slack.com/services/T{D10}/B{D10}/{w24}",
    "https:\\/\\/hooks.slack.com\\/services\\/T{D8}\\/B{D8}\\/{w24}",
    "https://hooks.slack.com/workflows/T{D10}/A{D10}/{d18}/{w24}",
    "https://discord.com/api/webhooks/{d19}/{u68}",
    "https://discordapp.com/api/webhooks/{d18}/{u68}",
    "sk_live_{w24}",
    "sk_live_{w99}",
    "rk_live_{w24}",
    "sk_test_{w24}",
    "rk_test_{w24}",
    "whsec_{b32}",
    "shpat_{h32}",
    "shpca_{h32}",
    "shppa_{h32}",
    "shpss_{h32}",
    "SG.{u22}.{u43}",
    "xkeysib-{h64}-{w16}",
    "PMAK-{h24}-{h34}",
    "lin_api_{w40}",
    "glsa_{w32}_{h8}",
    "ATATT3xFfGF0{u170}={h8}",
    "eyJhbGciOi{u26}.eyJ{u100}.{u43}",
    "eyJhbGciOi{u26}..{u16}.{u200}.{u22}",
    "eyJhbGciOi{u26}.{u342}.{u16}.{u200}.{u22}", /* JWS, JWE */
    "AGE-SECRET-KEY-1{D58}",
    "Private-Lines: 8\n{b64}\n{b64}",
    "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1J{b200}=",
    "client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpN{b200}=",
    "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tCk1J{b200}",
    "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZLS0tLS0K{b200}",
    "-----BEGIN PRIVATE KEY-----\n{b64}\n{b64}\n-----END",
    "-----BEGIN RSA PRIVATE KEY-----\r\n{b64}\r\n",
    "-----BEGIN EC PRIVATE KEY-----\n{b64}",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn{b58}\n",
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n    {b64}\n",
    "{\"type\": \"service_account\", \"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMII{b61}\\n{b64}\\n-----END",
    "-----BEGIN DSA PRIVATE KEY-----\\\\n{B64}",
    "'-----BEGIN RSA PRIVATE KEY-----\\n' +\n    '{b64}\\n' +\n",
    "\"-----BEGIN EC PRIVATE KEY-----\\r\\n\"\n\"{b64}\\r\\n\"",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n{b64}\n{b64}",
    "-----BEGIN RSA PRIVATE KEY-----\\nProc-Type: 4,ENCRYPTED\\nDEK-Info: AES-128-CBC,0123456789ABCDEF\\n\\n{b64}",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\nComment: a key, it is\n\nlQ{b62}\n{b64}",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ{b62}\n",
};
/* What stands around a key. */
static const char *const around[] = {
    "%s",
    "My key is %s, is it?",
    "export KEY='%s'\n",
    "{\"key\": \"%s\"}",
    "{\"text\": \"one\\n%s\\ntwo\"}",
    "{\\\"key\\\": \\\"%s\\\"}",
    "\\u0022%s\\u0022",
    "f(b\"\\x22%s\\x22\")",
    "<Key>%s</Key>",
    "id=1;key=%s;",
    "Authorization: Bearer %s\n",
    "| a | `%s` |",
    "\xe9\x92\xa5%s\xe3\x80\x82",
    UTF8_BOM "%s",
    "https://h.example/?key=%s&a=1",
    "https://h.example/?a%%3D%s%%26b",
};
enum { FORMS = sizeof forms / sizeof *forms, AROUND = sizeof around / sizeof *around, KEYS = 10000 };

static void make_key(struct rng *rng, const char *form, struct text *key)
{
    key->length = 0;
    for (; *form; form++) {
        size_t letter = (unsigned char)form[1] < 128 ? (unsigned char)form[1] : 0;
        const char *alphabet = *form == '{' ? alphabets[letter == 'B' ? 'b' : letter] : NULL;
        if (!alphabet) {
            text_append(key, form, 1);
            continue;
        }
        char *end;
        for (long left = strtol(form + 2, &end, 10); left; left--) {
            char c = alphabet[rng_integer(rng, 0, (int64_t)strlen(alphabet))];
            text_add(key, c == '/' && letter == 'B' ? "\\" : "");
            text_append(key, &c, 1);
        }
        form = end;
    }
}

static void test_random_keys(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 8);
    struct text key = {0}, text = {0};
    for (size_t form = 0; form < FORMS; form++) {
        int missed = 0;
        for (size_t i = 0; i < KEYS; i++) {
            make_key(&rng, forms[form], &key);
            text.length = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            text_addf(&text, around[i % AROUND], key.bytes);
#pragma GCC diagnostic pop
            if (!cot_secret_in(text.bytes) && !missed++)
                print_error("%s: %s\n", forms[form], text.bytes);
        }
        if (missed)
            print_error("%s: %d of %d\n", forms[form], missed, KEYS);
        assert_int_equal(missed, 0);
    }
    text_free(&key);
    text_free(&text);
}

/* Keys of the issuers' own documents: AWS's examples have one digit and four. */
static void test_documented_keys(void **state)
{
    (void)state;
    assert_string_equal(cot_secret_in("aws_access_key_id = AKI" /* in two, as in all of this */
                                      "AIOSFODNN7EXAMPLE"),
                        "cloud key");
    assert_string_equal(cot_secret_in("aws_secret_access_key = wJalrXUtnFEMI/"
                                      "K7MDENG/bPxRfiCYEXAMPLEKEY"),
                        "cloud key");
    assert_string_equal(cot_secret_in("xoxb-123456789012-"
                                      "1234567890123-4mt0t4l1yf3k3k3ys3cr3t0k"),
                        "access token");
}

static void test_none(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "AKIA",
        "AKIAEXAMPLEWORDSINHERE",
        "THEAKIAABCDEFGHIJKLMNOP is longer",
        "AKIA0189ABCDEFGHIJKL has no digit of base32's",
        "AKIAABCDEFGHIJKLMNOPQ",
        "ASIAPACIFIC",
        "akiaabcdefghijklmnop",
        "AIzawa_and_others_at_the_university_of_aizu",
        "hf_hub_download_snapshot_of_a_repository_by_its_revision",
        "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",
        "from hf_transformers2ForSequenceClassificationHead import x",
        "sk-learn-contrib-2023-10-random-forest-classifier-of-2,048-trees",
        "sk-ipping over the long word sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "sk-proj-2024-a-very-long-name-of-a-project-and-of-its-folder",
        "sk-admin-AutoModel-For-Sequence-Classification-And-Others",
        "task-0a0a",
        "npm_config_cache_directory_of_the_user_name_2",
        "npm_lifecycleScriptThatThePackageRunsAfterwards",
        "pypi-package-names-may-be-long-and-have-dashes-0123456789-and-so-on-they-go-on",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_short1",
        "github_pat_"
        "XXXXXXXXXXXXXXXXXXXXXX_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
        "glpat-xxxxxxxxxxxxxxxxxxxx",
        "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx",
        "xoxb-your-token-goes-here-or-nowhere",
        "xoxb-123-456-abc",
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "https://discord.com/api/webhooks/{id}/{token}",
        "secret_access_key: str = Field(default_factory=lambda: os.environ.get('KEY'))",
        "AWS_SECRET_ACCESS_KEY=<your secret access key of forty characters>",
        "AWS_SECRET_ACCESS_KEY=${{ secrets.AWS_SECRET_ACCESS_KEY }}",
        "secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY",
        "secret_access_key=/path/to/the/file/that/has/it/in/it/alone",
        "SharedAccessKeyName=RootManageSharedAccessKey",
        "AccountKey=<key>==",
        "AccountKey;",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "grep -r -- '-----BEGIN OPENSSH PRIVATE KEY-----' ~ # finds them",
        "if (text.startsWith(\"-----BEGIN EC PRIVATE KEY-----\")) return decode(text);",
        "-----BEGIN PRIVATE KEY-----\n<your key here>\n",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n",
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQENBFab12cBCAC7XyzAbCdEfGhIjKlMnOpQrStUvWxYz\n",
        "-----BEGIN "
        "-----BEGIN -----BEGIN PRIVATE KEY",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        "eyJ.eyJ.",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.<signature>",
        "\"data:application/"
        "json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEuanMiXSwibmFtZXMiOltdLCJtYXBwaW5ncyI6IkFBQUEifQ==\"",
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURkekNDQWwrZ0F3SUJBZ0lFQWdBQXVUQU5CZ2txaGtpRzl3MEJBUVVGQURCYU1Rc3c",
        "SG.",
        "hvs.",
        "dapi",
        "%",
        "\\",
        "\\u",
        "%3DAKIA",
        "-----",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (cot_secret_in(texts[i]))
            print_error("%s\n", texts[i]);
        assert_null(cot_secret_in(texts[i]));
    }
}

/* A text of one head again and again, or of what may follow it, takes no longer than its length. */
static void test_long_texts(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "sk-proj-",        "eyJ-", "eyJ-aaaaaaaaaa.eyJ.", "-", "-----BEGIN PRIVATE KEY-----\n",
        "aws_secret_key=", "\\",   "Private-Lines: "};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct text text = {0};
        while (text.length < 1 << 20)
            text_add(&text, pieces[i]);
        assert_null(cot_secret_in(text.bytes));
        text_free(&text);
    }
}

static void test_this_repository(void **state)
{
    (void)state;
    static const char *const folders[] = {"docs",    "src",       "include",  "tests",      "python", "scripts",
                                          "prompts", "templates", "examples", "benchmarks", "cmake",  "tasks"};
    size_t read = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct arena arena = {0};
        struct text folder = {0};
        const char **paths;
        size_t count;
        text_addf(&folder, "%s/%s", AKGEN_SOURCE_DIR, folders[i]);
        assert_null(files_list(&arena, folder.bytes, &paths, &count));
        for (size_t at = 0; at < count; at++) {
            struct arena of_a_file = {0};
            struct text path = {0};
            char *bytes;
            text_addf(&path, "%s/%s", folder.bytes, paths[at]);
            assert_null(files_read(&of_a_file, path.bytes, 64 << 20, &bytes, NULL));
            if (cot_secret_in(bytes))
                print_error("%s: %s\n", path.bytes, cot_secret_in(bytes));
            assert_null(cot_secret_in(bytes));
            read++;
            text_free(&path);
            arena_free(&of_a_file);
        }
        text_free(&folder);
        arena_free(&arena);
    }
    assert_true(read > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_keys), cmocka_unit_test(test_documented_keys), cmocka_unit_test(test_none),
        cmocka_unit_test(test_long_texts),  cmocka_unit_test(test_this_repository),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
