/* Evaluates candidates in one process: evaluations COUNT TASK USUAL DIR .. prints, after each tenth, how many evaluations ended how
 * and what the process holds then. The first USUAL candidates come by turns; every tenth evaluation is of one of the others, each of
 * which comes once and has to be compiled. For evaluations.py. */
#include "akgen/akgen.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        exit(3);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Besides the one that it opens itself. */
static int descriptors(void)
{
    int count = -3; /* . and .. */
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

/* Processes whose parent is this one, zombies too. */
static int children(void)
{
    char path[300], line[300];
    int count = 0, parent;
    DIR *dir = opendir("/proc");
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "re") : NULL;
        if (!file)
            continue;
        count += fgets(line, sizeof line, file) && sscanf(line, "%*d %*s %*c %d", &parent) == 1 && parent == getpid();
        fclose(file);
    }
    if (dir)
        closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    char **candidates = argv + 4;
    int count = atoi(argv[1]), usual = atoi(argv[3]), others = argc - 4 - usual,
        kinds[AKGEN_VERDICT_INFRA_ERROR + 1] = {0};
    for (int i = 1; i <= count; i++) {
        bool fresh = i % 10 == 0 && i / 10 <= others;
        struct akgen_request request = {.task = argv[2],
                                        .candidate = candidates[fresh ? usual + i / 10 - 1 : i % usual],
                                        .one_case = true,
                                        .jobs = 2};
        struct akgen_verdict *verdict = akgen_evaluate(&request);
        kinds[verdict->kind]++;
        akgen_verdict_free(verdict);
        if (i % (count / 10) != 0)
            continue;
        printf("{\"evaluations\": %d, \"resident\": %ld, \"descriptors\": %d, \"children\": %d, \"kinds\": {", i,
               resident_kib(), descriptors(), children());
        for (int kind = 0; kind <= AKGEN_VERDICT_INFRA_ERROR; kind++)
            printf("%s\"%s\": %d", kind ? ", " : "", akgen_verdict_kind_name((enum akgen_verdict_kind)kind),
                   kinds[kind]);
        printf("}}\n");
        fflush(stdout);
    }
    return 0;
}
