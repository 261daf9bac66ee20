/* Evaluates candidates by turns in one process: evaluations COUNT TASK DIR .. prints, after each tenth, how many evaluations
 * ended how and what the process holds then. For evaluations.py. */
#include "akgen/akgen.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
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

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int count = atoi(argv[1]), kinds[AKGEN_VERDICT_INFRA_ERROR + 1] = {0};
    for (int i = 1; i <= count; i++) {
        struct akgen_request request = {
            .task = argv[2], .candidate = argv[3 + i % (argc - 3)], .one_case = true, .jobs = 2};
        struct akgen_verdict *verdict = akgen_evaluate(&request);
        kinds[verdict->kind]++;
        akgen_verdict_free(verdict);
        if (i % (count / 10) != 0)
            continue;
        printf("{\"evaluations\": %d, \"resident\": %ld, \"descriptors\": %d, \"children\": %d, \"kinds\": {", i,
               resident_kib(), descriptors(), waitpid(-1, NULL, WNOHANG) == 0);
        for (int kind = 0; kind <= AKGEN_VERDICT_INFRA_ERROR; kind++)
            printf("%s\"%s\": %d", kind ? ", " : "", akgen_verdict_kind_name((enum akgen_verdict_kind)kind),
                   kinds[kind]);
        printf("}}\n");
        fflush(stdout);
    }
    return 0;
}
