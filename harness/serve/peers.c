/*
 * peers.c - looks through the directories of other servers for a job, as store.h lays them out. Relies on store.h and
 * base/json.h. Called by server_peers.c.
 */
#include "serve/peers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/tree.h"

void peer_job_free(struct peer_job *job)
{
    free(job->submission);
    free(job->outcome);
    *job = (struct peer_job){0};
}

/* A server holds its directory's lock for as long as it runs. */
static bool is_at_work(const struct store *peer)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/lock", peer->directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

static bool read_job(const struct store *peer, const char *client, const char *id, struct peer_job *out)
{
    char *text = NULL;
    cJSON *tree = NULL;
    struct error ignored;
    bool own = store_get(peer, id, STORE_SUBMISSION, &text, &ignored) == 0 &&
               json_parse(text, strlen(text), STORE_FILE_BYTES, "job", &tree, &ignored) == 0 &&
               strcmp(tree_text(tree, "client"), client) == 0;
    *out = (struct peer_job){0};
    if (own)
        out->submission = json_print(tree_member(tree, "submission"), false);
    if (out->submission && store_get(peer, id, STORE_OUTCOME, &out->outcome, &ignored) != 0)
        out->outcome = NULL;
    out->at_work = out->submission && is_at_work(peer);
    cJSON_Delete(tree);
    free(text);
    return out->submission != NULL;
}

/* False: it is no other server's. */
static bool peer_at(const char *directory, const char *name, const struct store *own, struct store *out)
{
    char path[PATH_MAX];
    *out = (struct store){.lock_fd = -1};
    if (name[0] == '.' || snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return false;
    char *real = realpath(path, NULL);
    bool other = real && strlen(real) < sizeof out->directory && strcmp(real, own->directory) != 0;
    if (other)
        snprintf(out->directory, sizeof out->directory, "%s", real);
    free(real);
    return other;
}

static int worth(const struct peer_job *job)
{
    return job->outcome ? 3 : job->at_work ? 2 : job->submission ? 1 : 0;
}

bool peers_find(const char *directory, const struct store *own, const char *client, const char *id,
                struct peer_job *out)
{
    DIR *all = store_is_id(id) ? opendir(directory) : NULL;
    struct store peer;
    struct peer_job one;
    *out = (struct peer_job){0};
    for (struct dirent *entry; all && !out->outcome && (entry = readdir(all)) != NULL;) {
        if (!peer_at(directory, entry->d_name, own, &peer) || !read_job(&peer, client, id, &one))
            continue;
        struct peer_job *worse = worth(&one) > worth(out) ? out : &one;
        peer_job_free(worse);
        if (worse == out)
            *out = one;
    }
    if (all)
        closedir(all);
    return out->submission != NULL;
}
