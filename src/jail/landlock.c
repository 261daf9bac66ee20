#include "jail/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights of later Landlock versions, which older system headers lack (Documentation/userspace-api/landlock.rst). */
enum { FS_TRUNCATE = 1 << 14, FS_IOCTL_DEV = 1 << 15, NET_BIND_TCP = 1, NET_CONNECT_TCP = 2 };
enum { SCOPE_ABSTRACT_SOCKET = 1, SCOPE_SIGNAL = 2 }; /* version 6 */
struct ruleset_attr {
    uint64_t fs, net, scoped;
};

enum {
    FILE_READ = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE,
    FILE_WRITE = LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE,
    TREE_READ = FILE_READ | LANDLOCK_ACCESS_FS_READ_DIR,
    TREE_WRITE = TREE_READ | FILE_WRITE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG,
    FS_VERSION1 = (1 << 13) - 1
};

int landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 ? 0 : (int)version;
}

static uint64_t handled_rights(int version)
{
    uint64_t rights = FS_VERSION1;
    if (version >= 2)
        rights |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3)
        rights |= FS_TRUNCATE;
    if (version >= 5)
        rights |= FS_IOCTL_DEV;
    return rights;
}

static int allow(int ruleset, const char *path, uint64_t file_rights, uint64_t tree_rights, uint64_t handled)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    struct stat status;
    if (fd < 0)
        return 0;
    if (fstat(fd, &status)) {
        close(fd);
        return -1;
    }
    struct landlock_path_beneath_attr rule = {
        .allowed_access = (S_ISDIR(status.st_mode) ? tree_rights : file_rights) & handled, .parent_fd = fd};
    long result = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(fd);
    return (int)result;
}

int landlock_prepare(int version, const char *const *readable, const char *const *writable)
{
    if (version < 1)
        return LANDLOCK_NONE;
    struct ruleset_attr attr = {.fs = handled_rights(version),
                                .net = version >= 4 ? NET_BIND_TCP | NET_CONNECT_TCP : 0,
                                .scoped = version >= 6 ? SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL : 0};
    size_t size = version >= 6 ? sizeof attr : version >= 4 ? offsetof(struct ruleset_attr, scoped) : sizeof attr.fs;
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    if (ruleset < 0)
        return -1;
    int failed = 0;
    for (; readable && *readable; readable++)
        failed |= allow(ruleset, *readable, FILE_READ, TREE_READ, attr.fs);
    for (; writable && *writable; writable++)
        failed |= allow(ruleset, *writable, FILE_READ | FILE_WRITE, TREE_WRITE, attr.fs);
    if (!failed)
        return ruleset;
    close(ruleset);
    return -1;
}

int landlock_restrict(int ruleset)
{
    if (ruleset == LANDLOCK_NONE)
        return 0;
    long failed = syscall(SYS_landlock_restrict_self, ruleset, 0);
    close(ruleset);
    return failed ? -1 : 0;
}
