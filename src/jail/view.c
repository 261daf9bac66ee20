/* What a process of the jail sees of the files: a tree of its own in memory, into which the listed paths are bound under
 * their own names, for reading or for writing. Made between fork and exec, from a plan that the parent has made. */
#include "base/memory.h"
#include "jail/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_PLACES = 48, RECURSIVE = 0x8000 /* AT_RECURSIVE of linux/fcntl.h, which does not go with fcntl.h */ };
/* One path: bound, or the symbolic link that it is. */
struct place {
    char path[PATH_MAX];
    char link[PATH_MAX]; /* what the link says; "": it is none */
    bool directory, writable, device;
};
struct view {
    size_t count;
    struct place *places;
};

static bool below(const char *path, const char *tree)
{
    size_t length = strlen(tree);
    return strncmp(path, tree, length) == 0 && (!path[length] || path[length] == '/');
}

/* A link that leads into a tree that is listed (/lib, which is usr/lib) stays a link; any other is bound as what it leads to. */
static void keep_link(struct place *place, const char *const *readable)
{
    char *target = realpath(place->path, NULL);
    ssize_t length = readlink(place->path, place->link, sizeof place->link - 1);
    bool inside = false;
    for (; target && length > 0 && readable && *readable; readable++)
        inside |= strcmp(*readable, place->path) != 0 && below(target, *readable);
    place->link[inside ? length : 0] = '\0';
    free(target);
}

static void add(struct view *view, const char *path, bool writable, const char *const *readable)
{
    struct stat status;
    struct place *place = &view->places[view->count];
    if (view->count == MOST_PLACES || *path != '/' || strlen(path) >= PATH_MAX || stat(path, &status))
        return;
    *place =
        (struct place){.directory = S_ISDIR(status.st_mode), .device = S_ISCHR(status.st_mode), .writable = writable};
    strcpy(place->path, path);
    for (size_t i = 0; i < view->count; i++)
        if (strcmp(view->places[i].path, path) == 0 && view->places[i].writable == writable)
            return;
    keep_link(place, readable);
    view->count++;
}

struct view *view_new(const char *const *readable, const char *const *writable, bool whole_proc)
{
    struct view *view = memory_alloc(sizeof *view);
    *view = (struct view){.places = memory_alloc(MOST_PLACES * sizeof(struct place))};
    for (const char *const *path = readable; path && *path; path++)
        if (!below(*path, "/proc"))
            add(view, *path, false, readable);
    for (const char *const *path = writable; path && *path; path++)
        add(view, *path, true, readable);
    if (whole_proc)
        add(view, "/proc", false, readable);
    return view;
}

void view_free(struct view *view)
{
    if (view)
        free(view->places);
    free(view);
}

/* In the child. Paths are relative to the new root, which is the working directory: past the slashes in front. */
static const char *relative(const char *path)
{
    while (*path == '/')
        path++;
    return path;
}

/* Makes the directories that a path lies in. */
static int make_parents(const char *path)
{
    char parent[PATH_MAX];
    for (size_t i = 0; path[i]; i++) {
        parent[i] = path[i];
        if (path[i] != '/')
            continue;
        parent[i] = '\0';
        if (mkdir(parent, 0755) && errno != EEXIST && errno != EROFS)
            return -1;
        parent[i] = '/';
    }
    return 0;
}

/* A copy of the mount that a path lies in, from the path on, with what it may be used for. */
static int copy_of(const struct place *place)
{
    int tree = (int)syscall(SYS_open_tree, AT_FDCWD, place->path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | RECURSIVE);
    struct mount_attr use = {.attr_set = (uint64_t)MOUNT_ATTR_NOSUID | (place->writable ? 0 : MOUNT_ATTR_RDONLY) |
                                         (place->device ? 0 : MOUNT_ATTR_NODEV)};
    if (tree >= 0 && syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | RECURSIVE, &use, sizeof use))
        return -1;
    return tree;
}

static int place_at(const struct place *place, int tree)
{
    const char *path = relative(place->path);
    if (make_parents(path))
        return -1;
    if (*place->link)
        return symlink(place->link, path) && errno != EEXIST ? -1 : 0;
    int made = place->directory ? mkdir(path, 0755) : mknod(path, S_IFREG | 0644, 0);
    if (made && errno != EEXIST && errno != EROFS)
        return -1;
    return (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH);
}

const char *view_enter(const struct view *view)
{
    static const char mount_point[] = "/proc"; /* a directory that every system has and no view copies */
    int trees[MOST_PLACES];
    if (unshare(CLONE_NEWNS))
        return "a mount namespace";
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return "mounts of its own";
    for (size_t i = 0; i < view->count; i++) {
        trees[i] = *view->places[i].link ? -1 : copy_of(&view->places[i]);
        if (trees[i] < 0 && !*view->places[i].link)
            return view->places[i].path;
    }
    if (mount("akgen", mount_point, "tmpfs", MS_NOSUID | MS_NODEV, "size=256k,nr_inodes=2048,mode=755"))
        return "a file system in memory";
    if (chdir(mount_point) || mkdir("proc", 0555))
        return "the root of the jail";
    for (size_t i = 0; i < view->count; i++) {
        if (place_at(&view->places[i], trees[i]))
            return view->places[i].path;
        if (trees[i] >= 0)
            close(trees[i]);
    }
    struct mount_attr use = {.attr_set = MOUNT_ATTR_RDONLY};
    if (syscall(SYS_mount_setattr, AT_FDCWD, ".", 0, &use, sizeof use))
        return "a root that is read only";
    return syscall(SYS_pivot_root, ".", ".") ? "the change of the root" : NULL;
}

/* A container often hides parts of /proc, and then the kernel grants no other: the view has shown the old one. */
const char *view_close(bool own_proc)
{
    if (own_proc && mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "subset=pid"))
        return "/proc";
    return umount2(".", MNT_DETACH) || chdir("/") ? "the end of the old root" : NULL;
}
