/*
 * spaces.h - what a worker enters before it opens its device: namespaces, and a user, of its own.
 *
 * namespaces: no network interface, no System V or POSIX message of others. processes: a process namespace with its own
 * /proc and /dev/shm, so that it sees no other process and whatever it starts ends with it. user: where root starts it,
 * a user that nobody else is, with the right to read and write files (Landlock says which) and no other.
 *
 * Each is tried in a child first, for there is no way back. What cannot be had is a note in the record.
 */
#ifndef CUDAL2_WORKER_SPACES_H
#define CUDAL2_WORKER_SPACES_H

#include "worker/confine.h"

/* The users of workers have the number of their process added to this one. Nobody hands these numbers out (systemd,
 * "Users, Groups, UIDs and GIDs"). */
#define SPACES_FIRST_USER 0x70000000u
/* Where a system knows no such numbers (a container with 65536 of them): the last before "nobody". */
#define SPACES_FIRST_SMALL_USER 61184u
#define SPACES_SMALL_USERS 4096u

/* What must work in there. */
struct spaces_trial {
    bool (*works)(void *context); /* NULL: nothing; called in a child, which is ended after 20 s */
    void *context;
    char *const *reads; /* files and directories that must still be readable, where they are there; NULL-terminated, or
                         * NULL for none. The program, its cache and TMPDIR are always among them */
};

/* Which of the wanted ones this system has, by trying: in c->in_force, as if they were, and c->note. Only while this
 * process has one thread. */
void spaces_choose(struct confinement *c, const struct spaces_trial *trial);

/* Enters what was chosen and executes this program anew, as `worker in ...`. With `processes` that is another process,
 * a child of this one's parent: its number is sent on socket `fd` (struct spaces_moved) and this process ends. Returns
 * only where nothing was chosen. */
void spaces_enter(const struct confinement *c, int fd);
struct spaces_moved {
    char kind; /* SPACES_MOVED */
    char unused[3];
    int32_t pid;
};
#define SPACES_MOVED 'P'

/* In the program that was executed anew: takes what was entered from what follows `in`. False for what spaces_enter
 * does not write. */
bool spaces_entered(struct confinement *c, char *const arguments[]);

/* Whether this is a user that a worker may have been given. */
bool spaces_is_user(uint32_t user);

#endif
