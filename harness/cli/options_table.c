/*
 * options_table.c - the tables of options.h: the one place where a subcommand or option is described. Pure data. Called
 * by options.c, which parses by it, and by help.c, man.c and completion.c, which print it.
 */
#include "cli/options.h"

#include "compare/forms.h"
#include "model/problem.h"
#include "model/timing.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

#define ON(command) (1u << COMMAND_##command)
#define EVERYWHERE                                                                                                     \
    (ON(RUN) | ON(TUNE) | ON(COMPILE) | ON(LIST) | ON(DOCTOR) | ON(REPORT) | ON(COMPARE) | ON(MERGE) | ON(WATCH) |     \
     ON(VERIFY) | ON(SERVE) | ON(INIT) | ON(HELP))
#define DEVICE_USERS (ON(RUN) | ON(TUNE) | ON(LIST) | ON(DOCTOR) | ON(COMPARE) | ON(VERIFY) | ON(SERVE))
#define AT(field) offsetof(struct options, field)

#define MEASUREMENT "Measurement"
#define SEARCH "Search"
#define CONTENDERS "Contenders"
#define DEVICE "Device"
#define OUTPUT "Output"
#define REPORTS "Reports"
#define VERIFICATION "Verification"
#define GATE "Regressions"
#define SERVICE "Service"
#define GENERAL "General"

static const char *const mode_choices[] = {"offline", "server", "both", "chain", NULL};
static const char *const device_words[] = {"auto", "cpu", "cuda", "cuda:0", "cuda:all", NULL};
/* Those of `report` first: an index is its enum report_format. */
#define FORMAT_NAME(id, name, ...) name,
#define FORMAT_HELP(id, name, help, ...) name help
const char *const format_choices[] = {REPORT_FORMATS(FORMAT_NAME) "junit", NULL};
/* What the other commands know of them; compare --agreement has tables. */
static const char *const verify_formats[] = {"text", "json", NULL};
static const char *const table_words[] = {"1", "2", "3", "4", "5", "6", "7", "8", NULL};
static const char *const arch_words[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a", NULL};
static const char *const shell_choices[] = {"bash", "zsh", NULL};

const struct command_info command_table[COMMAND_COUNT] = {
    [COMMAND_RUN] = {"run", "", 0, false, OPTION_HINT_NONE, "measure every cell of a config (the default command)"},
    [COMMAND_TUNE] = {"tune", "", 0, false, OPTION_HINT_NONE,
                      "search the fastest variant of each candidate for every shape of a config, into a tuning table"},
    [COMMAND_COMPILE] = {"compile", "", 0, false, OPTION_HINT_NONE,
                         "compile ahead, without a GPU, the kernels that a run of a config would compile"},
    [COMMAND_LIST] = {"list", "", 0, false, OPTION_HINT_NONE,
                      "list the contenders, their versions, and why one is not available here"},
    [COMMAND_DOCTOR] = {"doctor", "", 0, false, OPTION_HINT_NONE,
                        "check GPU, driver and libraries, and name the command that gets what is missing"},
    [COMMAND_REPORT] = {"report", "[RESULT]...", OPTIONS_OPERANDS_MAX, false, OPTION_HINT_FILE,
                        "make tables, a page or exports from results and journals"},
    [COMMAND_COMPARE] = {"compare", "BASE... NEW", OPTIONS_OPERANDS_MAX, false, OPTION_HINT_FILE,
                         "tell which candidates lost speed between two runs (results or journals)"},
    [COMMAND_MERGE] = {"merge", "OUTPUT|DIR|JOURNAL...", OPTIONS_OPERANDS_MAX, false, OPTION_HINT_FILE,
                       "make one run of the journals of its shards, or print which shards are missing"},
    [COMMAND_WATCH] = {"watch", "OUTPUT|DIR|JOURNAL...", OPTIONS_OPERANDS_MAX, false, OPTION_HINT_FILE,
                       "show how far a run in shards is, from its journals: live on a terminal, one line elsewhere"},
    [COMMAND_VERIFY] =
        {"verify", "KERNEL...", OPTIONS_OPERANDS_MAX, false, OPTION_HINT_KERNELS,
         "check kernels (manifests, kernel sets, plugins) without timing them, and print a verdict per problem"},
    [COMMAND_SERVE] = {"serve", "", 0, false, OPTION_HINT_NONE,
                       "measure kernels that clients submit over HTTP, and answer with a reward (docs/serve.md)"},
    [COMMAND_INIT] = {"init", "", 0, false, OPTION_HINT_NONE,
                      "write a config to start from, with every key explained, to standard output"},
    [COMMAND_HELP] = {"help", "[COMMAND]", 1, false, OPTION_HINT_NONE,
                      "show help, the man page or a shell completion script"},
    [COMMAND_WORKER] = {"worker", "", 0, true, OPTION_HINT_NONE, "own one device for a running supervisor"},
};

const struct option_info option_table[OPTION_COUNT] = {
    [OPTION_CONFIG] = {"config", 'c', OPTION_KIND_TEXT, OPTION_HINT_FILE, ON(RUN) | ON(TUNE) | ON(COMPILE) | ON(VERIFY),
                       "FILE", NULL, AT(config), MEASUREMENT,
                       "shapes, contenders and settings: a path, the name of an installed config (smoke, grid, llm), "
                       "or - for standard input"},
    [OPTION_MODE] = {"mode", 'm', OPTION_KIND_CHOICE, OPTION_HINT_CHOICES, ON(RUN) | ON(TUNE) | ON(COMPILE), NULL,
                     mode_choices, AT(mode), MEASUREMENT,
                     "launches back to back, after idle gaps, both, or in a chain of layers with a plain kernel behind "
                     "each; default: the config's"},
    [OPTION_PROTOCOL] = {"protocol", 0, OPTION_KIND_CHOICE, OPTION_HINT_CHOICES, ON(RUN), NULL, protocol_names,
                         AT(protocol), MEASUREMENT,
                         "stop at a stated interval, or keep the fixed times of the CUDA-L2 paper"},
    [OPTION_TIMING] = {"timing", 't', OPTION_KIND_LIST, OPTION_HINT_CHOICES, ON(RUN) | ON(TUNE) | ON(REPORT), NULL,
                       timing_names, AT(timing), MEASUREMENT,
                       "headline: GPU time of launches alone or in a row where they may overlap, CUDA events, or the "
                       "host clock; run: and, after a comma, what is taken beside it: device,device-row"},
    [OPTION_ACCUMULATE] = {"accumulate", 'a', OPTION_KIND_CHOICE, OPTION_HINT_CHOICES,
                           ON(RUN) | ON(TUNE) | ON(COMPILE) | ON(VERIFY), NULL, accumulate_names, AT(accumulate),
                           MEASUREMENT, "accumulate type of every problem"},
    [OPTION_CACHE] = {"cache", 0, OPTION_KIND_CHOICE, OPTION_HINT_CHOICES, ON(RUN) | ON(TUNE), NULL, cache_state_names,
                      AT(cache), MEASUREMENT, "state of the device's cache before a launch, offline and server"},
    [OPTION_CHOICE] =
        {"choice", 0, OPTION_KIND_CHOICE, OPTION_HINT_CHOICES, ON(RUN) | ON(COMPILE), NULL, kernel_choice_names,
         AT(choice), MEASUREMENT,
         "kernel for a problem that no table has: race for it, first choice, table's, race what is compiled ahead"},
    [OPTION_EQUAL_BUDGET] =
        {"equal-budget", 0, OPTION_KIND_REAL, OPTION_HINT_NONE, ON(RUN), "SECONDS", NULL, AT(equal_budget), MEASUREMENT,
         "so long for every contender, baselines too, to race its variants for a problem; no tuning "
         "table but one named by --tuned"},
    [OPTION_RATE] = {"rate", 'r', OPTION_KIND_REAL, OPTION_HINT_NONE, ON(RUN) | ON(TUNE), "HZ", NULL, AT(rate_hz),
                     MEASUREMENT, "server mode: launches per second, so that the mean gap is 1/HZ"},
    [OPTION_GAP] = {"gap", 0, OPTION_KIND_CHOICE, OPTION_HINT_CHOICES, ON(RUN) | ON(TUNE), NULL, gap_names, AT(gap),
                    MEASUREMENT, "server mode: distribution of the gaps"},
    [OPTION_SEED] = {"seed", 0, OPTION_KIND_INTEGER, OPTION_HINT_NONE, ON(RUN) | ON(TUNE) | ON(VERIFY), "N", NULL,
                     AT(seed), MEASUREMENT, "seed of every random decision; default: drawn, and recorded"},
    [OPTION_AA] = {"aa", 0, OPTION_KIND_OPTIONAL, OPTION_HINT_NONE, ON(RUN), "CONTENDER", NULL, AT(aa), MEASUREMENT,
                   "also race a second copy of a contender, to measure the false-alarm rate"},
    [OPTION_NO_VERIFY] = {"no-verify", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(RUN), NULL, NULL, AT(no_verify),
                          VERIFICATION, "do not check the results of the contenders (the record says so)"},
    [OPTION_VERIFY_AGAIN] = {"verify-again", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(RUN), NULL, NULL,
                             AT(verify_again), VERIFICATION,
                             "verify what passed before on this GPU, driver, libraries and kernels too"},
    [OPTION_TIME_ANYWAY] = {"time-anyway", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(RUN), NULL, NULL, AT(time_anyway),
                            VERIFICATION,
                            "time what fails verification; its times are marked invalid and count nowhere"},
    [OPTION_ENERGY] =
        {"energy", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(RUN), NULL, NULL, AT(energy), MEASUREMENT,
         "offline: also measure joules a launch by the GPU's energy counter, 1 to 2 s a contender and cell"},
    [OPTION_JOIN_ROWS] =
        {"join-rows", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(RUN), NULL, NULL, AT(join_rows), MEASUREMENT,
         "device-row: launches that are seen to wait for the one ahead may overlap it, asked for or not"},
    [OPTION_INVARIANCE] = {"invariance", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(RUN) | ON(VERIFY), NULL, NULL,
                           AT(invariance), VERIFICATION,
                           "also find out whether rows of C have the same bits for every M, and over 20 launches"},
    [OPTION_ACTIVITY] = {"activity", 0, OPTION_KIND_CHOICE, OPTION_HINT_CHOICES, ON(RUN) | ON(VERIFY), NULL,
                         activity_names, AT(activity), VERIFICATION,
                         "whose launches CUPTI watches on a GPU, when all is timed; default: the config's, or sample"},
    [OPTION_SHAPE] = {"shape", 's', OPTION_KIND_MANY, OPTION_HINT_NONE, ON(RUN) | ON(TUNE) | ON(COMPILE) | ON(VERIFY),
                      "MxNxK", NULL, AT(shapes), MEASUREMENT,
                      "measure this shape, instead of the config's or without one; may be repeated; "
                      "\"64x96x128:lda=136:ldc=100:alpha=0.5:beta=1\" has leading dimensions and scales"},
    [OPTION_WHERE] = {"where", 0, OPTION_KIND_TEXT, OPTION_HINT_NONE, ON(RUN) | ON(TUNE) | ON(COMPILE) | ON(VERIFY),
                      "EXPRESSION", NULL, AT(where), MEASUREMENT,
                      "only the shapes for which it holds: \"M<=1024 && K>=4096\""},
    [OPTION_LIMIT] = {"limit", 0, OPTION_KIND_INTEGER, OPTION_HINT_NONE, ON(RUN) | ON(TUNE) | ON(COMPILE) | ON(VERIFY),
                      "N", NULL, AT(limit), MEASUREMENT, "only the N smallest of them, by M*N*K"},
    [OPTION_ROOFLINE] = {"roofline", 0, OPTION_KIND_TEXT, OPTION_HINT_FILE, ON(VERIFY), "FILE.svg", NULL, AT(roofline),
                         VERIFICATION,
                         "also time what is right, and draw it next to the baselines under the device's peaks"},
    [OPTION_MEMCHECK] = {"memcheck", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(VERIFY), NULL, NULL, AT(memcheck),
                         VERIFICATION, "also run the kernels under compute-sanitizer's memcheck"},
    [OPTION_RACECHECK] = {"racecheck", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(VERIFY), NULL, NULL, AT(racecheck),
                          VERIFICATION, "also run the kernels under compute-sanitizer's racecheck"},
    [OPTION_TIMEOUT] = {"timeout", 0, OPTION_KIND_REAL, OPTION_HINT_NONE, ON(VERIFY), "SECONDS", NULL,
                        AT(timeout_seconds), VERIFICATION,
                        "end a sanitizer (default: 300) or ncu (60) after this time"},
    [OPTION_IN_PROCESS] = {"in-process", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(VERIFY), NULL, NULL, AT(in_process),
                           VERIFICATION,
                           "without a worker, for debuggers: a kernel that crashes takes the program with it"},
    [OPTION_ONE_LAUNCH] = {"one-launch", 0, OPTION_KIND_OPTIONAL, OPTION_HINT_NONE, ON(VERIFY), "NAME[=VARIANT]", NULL,
                           AT(one_launch), VERIFICATION,
                           "with --in-process, for profilers: verify nothing, and launch each kernel, or the contender "
                           "of this name, or what a file lists (@FILE: lines \"MxNxK NAME=VARIANT\"), once, between "
                           "cuProfilerStart and cuProfilerStop"},
    [OPTION_COUNTERS] = {"counters", 0, OPTION_KIND_OPTIONAL, OPTION_HINT_NONE, ON(VERIFY), "METRICS", NULL,
                         AT(counters), VERIFICATION,
                         "also have NVIDIA's ncu count one launch of each kernel that is right: these metrics "
                         "(commas between), or those that the paper tells a model of"},
    [OPTION_COMPILE_ONLY] = {"compile-only", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(VERIFY), NULL, NULL,
                             AT(compile_only), VERIFICATION,
                             "no GPU needed: compile every variant, check arguments and limits, print what it is made "
                             "of"},
    [OPTION_ARCH] =
        {"arch", 0, OPTION_KIND_TEXT, OPTION_HINT_CHOICES, ON(VERIFY) | ON(TUNE) | ON(COMPILE) | ON(SERVE),
         "SM", arch_words, AT(arch), VERIFICATION,
         "without a GPU (compile, verify --compile-only, tune --dry-run): for which architecture; default: sm_90a"},
    [OPTION_VARIANTS] = {"variants", 0, OPTION_KIND_INTEGER, OPTION_HINT_NONE, ON(VERIFY), "N", NULL, AT(variants),
                         VERIFICATION, "with --compile-only: variants of each kernel at most; default: 64"},
    [OPTION_BREADTH] = {"breadth", 0, OPTION_KIND_INTEGER, OPTION_HINT_NONE, ON(TUNE), "N", NULL, AT(breadth), SEARCH,
                        "configurations of a kernel set to race for each shape and layout, up to 512; default: 32"},
    [OPTION_EXPLORE] = {"explore", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(TUNE), NULL, NULL, AT(explore), SEARCH,
                        "gather data: 56 configurations each, a quarter of them at random; needs --output"},
    [OPTION_DRY_RUN] = {"dry-run", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(TUNE), NULL, NULL, AT(dry_run), SEARCH,
                        "no GPU needed: list what would be raced, and about how long it takes"},
    [OPTION_BUDGET] = {"budget", 0, OPTION_KIND_REAL, OPTION_HINT_NONE, ON(TUNE), "SECONDS", NULL, AT(budget_seconds),
                       SEARCH, "stop after this time; --resume goes on"},
    [OPTION_UPDATE] = {"update", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(TUNE), NULL, NULL, AT(update), SEARCH,
                       "into the table that is there: replace what this search measured, keep the other entries"},
    [OPTION_BASELINES] = {"baselines", 'b', OPTION_KIND_TEXT, OPTION_HINT_CHOICES,
                          ON(RUN) | ON(TUNE) | ON(VERIFY) | ON(SERVE), "LIST", family_names, AT(baselines), CONTENDERS,
                          "comma-separated families, instead of the config's"},
    [OPTION_CANDIDATE] = {"candidate", 'k', OPTION_KIND_MANY, OPTION_HINT_KERNELS,
                          ON(RUN) | ON(TUNE) | ON(COMPILE) | ON(LIST), "NAME", NULL, AT(candidates), CONTENDERS,
                          "also race this kernel set, plugin (.so) or manifest (.json); may be repeated"},
    [OPTION_PLUGINS] = {"plugins", 0, OPTION_KIND_TEXT, OPTION_HINT_DIRECTORY, DEVICE_USERS, "DIR", NULL, AT(plugins),
                        CONTENDERS, "where plugins are; default: plugins/ beside the program"},
    [OPTION_KERNELS] = {"kernels", 0, OPTION_KIND_TEXT, OPTION_HINT_DIRECTORY, DEVICE_USERS | ON(COMPILE), "DIR", NULL,
                        AT(kernels), CONTENDERS,
                        "where kernel sets are; default: kernels/ beside the program or above it"},
    [OPTION_TUNED] = {"tuned", 0, OPTION_KIND_MANY, OPTION_HINT_FILE, ON(RUN) | ON(COMPILE), "FILE", NULL, AT(tuned),
                      CONTENDERS,
                      "tuning table to choose variants by, or none; default: tuned/ of the kernel directory, for this "
                      "device; may be repeated"},
    [OPTION_DEVICE] = {"device", 'd', OPTION_KIND_TEXT, OPTION_HINT_CHOICES, DEVICE_USERS,
                       "auto|cpu|cuda:N[,M]|cuda:all", device_words, AT(device), DEVICE,
                       "where to measure; auto is the first GPU, or the CPU without one; several GPUs share a run"},
    [OPTION_SHARD] =
        {"shard", 0, OPTION_KIND_TEXT, OPTION_HINT_NONE, ON(RUN) | ON(TUNE), "I/N", NULL, AT(shard), DEVICE,
         "measure part I (from 0) of N, into FILE.shard-I-of-N.json, always as with --resume; default: what "
         "CUDAL2_SHARD, a Slurm array, a Kubernetes Indexed Job or MPI says; none: everything "
         "(docs/scale-out.md)"},
    [OPTION_FORMAT] = {"format", 'f', OPTION_KIND_CHOICE, OPTION_HINT_CHOICES, ON(REPORT) | ON(COMPARE) | ON(VERIFY),
                       "FORMAT", format_choices, AT(format), REPORTS,
                       REPORT_FORMATS(FORMAT_HELP) "compare: " COMPARE_FORMATS(FORMAT_HELP)},
    [OPTION_TABLE] = {"table", 0, OPTION_KIND_INTEGER, OPTION_HINT_CHOICES, ON(REPORT), "1..8", table_words, AT(table),
                      REPORTS, "only this table of the paper; default: all"},
    [OPTION_PUBLISHED] = {"published", 0, OPTION_KIND_MANY, OPTION_HINT_FILE, ON(REPORT), "FILE", NULL, AT(published),
                          REPORTS, "also the speedups of a CSV file of the CUDA-L2 authors; may be repeated"},
    [OPTION_BETWEEN] = {"between", 0, OPTION_KIND_TEXT, OPTION_HINT_FILE, ON(REPORT), "FILE", NULL, AT(between),
                        REPORTS,
                        "another run of the same: tables say by how much speedups differ between the two (best of two "
                        "hosts: what a reader's own GPU may give)"},
    [OPTION_MIXED] = {"mixed", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(REPORT) | ON(MERGE), NULL, NULL, AT(mixed),
                      REPORTS, "accept results of different devices or drivers in one report"},
    [OPTION_ALL] = {"all", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(REPORT), NULL, NULL, AT(all), REPORTS,
                    "on the screen: every shape, every contender's time, every cell that is listed"},
    [OPTION_AGREEMENT] = {"agreement", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(COMPARE), NULL, NULL, AT(agreement),
                          GATE,
                          "no verdicts: by how much the speedups of NEW differ from BASE's (repeatability); of several "
                          "BASE, which only this takes, from their mean"},
    [OPTION_CONFIRM] = {"confirm", 0, OPTION_KIND_OPTIONAL, OPTION_HINT_FILE, ON(COMPARE), "FILE", NULL, AT(confirm),
                        GATE,
                        "measure what looks slower again, beside NEW, and judge by that, or by an earlier such FILE"},
    [OPTION_DELTA] = {"delta", 0, OPTION_KIND_REAL, OPTION_HINT_NONE, ON(COMPARE), "PERCENT", NULL, AT(delta_percent),
                      GATE, "loss of speed that counts; default: 2 offline, 5 server, or what A/A copies scatter"},
    [OPTION_LISTEN] = {"listen", 0, OPTION_KIND_TEXT, OPTION_HINT_NONE, ON(SERVE), "ADDRESS:PORT", NULL, AT(listen),
                       SERVICE, "where to listen; port 0 is any free one; default: 127.0.0.1:8090"},
    [OPTION_TOKENS] = {"tokens", 0, OPTION_KIND_TEXT, OPTION_HINT_FILE, ON(SERVE), "FILE", NULL, AT(tokens), SERVICE,
                       "lines \"NAME TOKEN\": who may submit; needed to listen on more than the own machine"},
    [OPTION_PEERS] = {"peers", 0, OPTION_KIND_TEXT, OPTION_HINT_DIRECTORY, ON(SERVE), "DIR", NULL, AT(peers), SERVICE,
                      "servers whose --output is in DIR tell each other's outcomes, for a load balancer"},
    [OPTION_QUEUE] = {"queue", 0, OPTION_KIND_INTEGER, OPTION_HINT_NONE, ON(SERVE), "N", NULL, AT(queue), SERVICE,
                      "open submissions at most; default: 10000"},
    [OPTION_QUOTA] = {"quota", 0, OPTION_KIND_INTEGER, OPTION_HINT_NONE, ON(SERVE), "N", NULL, AT(quota), SERVICE,
                      "open submissions of one client at most; default: as --queue"},
    [OPTION_OUTPUT] =
        {"output", 'o', OPTION_KIND_TEXT, OPTION_HINT_FILE,
         ON(RUN) | ON(TUNE) | ON(COMPILE) | ON(REPORT) | ON(MERGE) | ON(SERVE), "FILE", NULL, AT(output), OUTPUT,
         "result file, its journal beside it; default: cudal2-CONFIG-MODE.json; tune: the table, default: this "
         "device's in the kernel directory; compile, report, serve: a directory"},
    [OPTION_RESUME] = {"resume", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(RUN) | ON(TUNE) | ON(COMPARE), NULL, NULL,
                       AT(resume), OUTPUT,
                       "go on with the journal of --output and skip what it has; compare: with the second look beside "
                       "NEW that was stopped"},
    [OPTION_EXPLAIN] = {"explain", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(RUN), NULL, NULL, AT(explain), OUTPUT,
                        "end with what was measured, what it means and what to type next"},
    [OPTION_ONCE] = {"once", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(WATCH), NULL, NULL, AT(once), OUTPUT,
                     "one line, also on a terminal"},
    [OPTION_QUIET] = {"quiet", 'q', OPTION_KIND_FLAG, OPTION_HINT_NONE,
                      ON(RUN) | ON(TUNE) | ON(COMPILE) | ON(COMPARE) | ON(VERIFY) | ON(SERVE), NULL, NULL, AT(quiet),
                      OUTPUT, "no progress, only the tables and errors"},
    [OPTION_NO_COLOR] = {"no-color", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, EVERYWHERE, NULL, NULL, AT(no_color),
                         OUTPUT, "no colour and no cursor control, even on a terminal"},
    [OPTION_FORCE] = {"force", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(RUN) | ON(COMPARE), NULL, NULL, AT(force),
                      GENERAL,
                      "run: use a tuning table of another device; compare: although device, driver, libraries or "
                      "settings differ"},
    [OPTION_MAN] = {"man", 0, OPTION_KIND_FLAG, OPTION_HINT_NONE, ON(HELP), NULL, NULL, AT(man), GENERAL,
                    "print the man page (roff)"},
    [OPTION_COMPLETION] = {"completion", 0, OPTION_KIND_CHOICE, OPTION_HINT_CHOICES, ON(HELP), NULL, shell_choices,
                           AT(completion), GENERAL, "print a completion script"},
    [OPTION_HELP] = {"help", 'h', OPTION_KIND_FLAG, OPTION_HINT_NONE, EVERYWHERE, NULL, NULL, AT(help), GENERAL,
                     "show help, of the command if one is named"},
    [OPTION_VERSION] = {"version", 'V', OPTION_KIND_FLAG, OPTION_HINT_NONE, EVERYWHERE, NULL, NULL, AT(version),
                        GENERAL, "show version, commit and how it was built"},
};

#define RUNS (ON(RUN) | ON(TUNE) | ON(VERIFY))
#define MEASURES (RUNS | ON(COMPARE))

const struct option_use use_table[] = {
    {OPTION_CONFIG, ON(VERIFY), "problems and baselines to check with, instead of a few of all kinds", NULL, NULL},
    {OPTION_SHAPE, ON(VERIFY), "a problem to check, instead of the config's or of a few of all kinds; may be repeated",
     NULL, NULL},
    {OPTION_TIMING, ON(REPORT), "the timing to report; default: each cell's headline", NULL, NULL},
    {OPTION_DEVICE, ON(COMPARE), "where --confirm measures; default: where NEW did", NULL, NULL},
    {OPTION_FORMAT, ON(REPORT), REPORT_FORMATS(FORMAT_HELP) "default: what a run shows at its end", report_format_names,
     NULL},
    {OPTION_FORMAT, ON(COMPARE), COMPARE_FORMATS(FORMAT_HELP) "; default: text", compare_format_names, NULL},
    {OPTION_FORMAT, ON(VERIFY), "text, or json with all that was found; default: text", verify_formats, NULL},
    {OPTION_OUTPUT, ON(RUN), "result file, its journal beside it; default: cudal2-CONFIG-MODE.json", NULL, NULL},
    {OPTION_OUTPUT, ON(TUNE), "the tuning table, its journal beside it; default: this device's in the kernel directory",
     NULL, NULL},
    {OPTION_OUTPUT, ON(COMPILE),
     "where compiled kernels go, and what is there already is not compiled again; default: CUDAL2_CUBINS, or cubins/ "
     "beside the kernel directory",
     NULL, "DIR"},
    {OPTION_ARCH, ON(COMPILE), "for which architecture; default: sm_90a", NULL, NULL},
    {OPTION_RESUME, ON(RUN) | ON(TUNE), "go on with the journal of --output and skip what it has", NULL, NULL},
    {OPTION_OUTPUT, ON(MERGE),
     "result file, its journal beside it; default: the shards' name without \".shard-I-of-N\"", NULL, NULL},
    {OPTION_MIXED, ON(MERGE), "accept shards of different devices, drivers or libraries", NULL, NULL},
    {OPTION_OUTPUT, ON(REPORT), "where the files of the report go, made if need be; default: standard output", NULL,
     "DIR"},
    {OPTION_OUTPUT, ON(SERVE), "where jobs and outcomes are kept; a restart goes on with them; default: cudal2-serve",
     NULL, "DIR"},
    {OPTION_BASELINES, ON(SERVE),
     "what a submission is held against that names none; default: cublaslt-autotuning, or openblas on the CPU", NULL,
     "NAME"},
    {OPTION_ARCH, ON(SERVE),
     "what submitted source is compiled for ahead of the device; default: the first GPU's, or sm_90a", NULL, NULL},
    {OPTION_QUIET, ON(SERVE), "no line for each outcome", NULL, NULL},
    {OPTION_RESUME, ON(COMPARE), "with --confirm: go on with the second look beside NEW that was stopped", NULL, NULL},
    {OPTION_FORCE, ON(RUN), "use a tuning table of another device", NULL, NULL},
    {OPTION_FORCE, ON(COMPARE), "compare although device, driver, libraries or settings differ", NULL, NULL},
    {OPTION_COUNT, 0, NULL, NULL, NULL},
};

static const struct option_use *use_of(enum option_id id, enum command command)
{
    const struct option_use *use = use_table;
    while (use->help && !(use->id == id && command != COMMAND_COUNT && ((use->commands >> command) & 1u)))
        use++;
    return use->help ? use : NULL;
}

const char *option_help(enum option_id id, enum command command)
{
    const struct option_use *use = use_of(id, command);
    return use ? use->help : option_table[id].help;
}

const char *const *option_choices(enum option_id id, enum command command)
{
    const struct option_use *use = use_of(id, command);
    return use && use->choices ? use->choices : option_table[id].choices;
}

const char *option_argument(enum option_id id, enum command command)
{
    const struct option_use *use = use_of(id, command);
    return use && use->argument ? use->argument : option_table[id].argument;
}

const struct exit_info exit_table[] = {
    {EXIT_CODE_OK, EVERYWHERE, "success"},
    {EXIT_CODE_REGRESSION, ON(COMPARE), "a regression was found"},
    {EXIT_CODE_INCOMPARABLE, ON(RUN) | ON(TUNE),
     "somebody who was named was measured in no cell, a cell failed, or nothing can be compared; the last line says "
     "who or what"},
    {EXIT_CODE_INCOMPARABLE, ON(REPORT), "nothing was measured in what was given"},
    {EXIT_CODE_INCOMPARABLE, ON(COMPARE), "the runs cannot be compared, or NEW lacks what BASE has"},
    {EXIT_CODE_INCOMPARABLE, ON(MERGE),
     "a shard is missing or not at its end; standard output has --array=LIST of them"},
    {EXIT_CODE_INCOMPARABLE, ON(VERIFY), "a kernel that was named was checked on no problem; the last line says which"},
    {EXIT_CODE_VERIFICATION, MEASURES, "a contender failed verification"},
    {EXIT_CODE_VERIFICATION, ON(VERIFY),
     "with --compile-only: a variant does not compile, takes other arguments than its manifest says, or breaks a "
     "limit"},
    {EXIT_CODE_VERIFICATION, ON(COMPILE), "a kernel was refused"},
    {EXIT_CODE_USAGE, EVERYWHERE, "wrong command line"},
    {EXIT_CODE_DATA, EVERYWHERE & ~(ON(HELP) | ON(INIT)),
     "an input file or directory cannot be read, or its content is wrong"},
    {EXIT_CODE_UNAVAILABLE, DEVICE_USERS, "the device, driver or a library is not there"},
    {EXIT_CODE_UNAVAILABLE, ON(COMPILE), "there is no NVRTC, or none that knows the architecture"},
    {EXIT_CODE_UNAVAILABLE, ON(SERVE), "libmicrohttpd is not there, or the address is in use"},
    {EXIT_CODE_INTERNAL, EVERYWHERE, "an internal error, or no memory"},
    {EXIT_CODE_CANTCREATE, MEASURES | ON(REPORT) | ON(MERGE) | ON(COMPILE), "the output cannot be created"},
    {EXIT_CODE_IO, EVERYWHERE, "a write, sync or rename failed (disk full)"},
    {EXIT_CODE_TEMPORARY, MEASURES,
     "try again: the GPU or the journal is in use, a shard sees no GPU, or the run was stopped by TERM with work left"},
    {EXIT_CODE_CANTCREATE, ON(SERVE), "the directory of jobs cannot be made"},
    {EXIT_CODE_TEMPORARY, ON(SERVE), "another server has that directory"},
    {EXIT_CODE_INTERRUPTED, MEASURES, "interrupted by INT (Ctrl-C); --resume goes on where there is one"},
    {0, 0, NULL},
};

void commands_text(uint32_t commands, char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    if (__builtin_popcount(commands) > 2)
        return;
    for (int i = 0; i < COMMAND_COUNT && used < capacity; i++) {
        if (!((commands >> i) & 1u))
            continue;
        int more = snprintf(out + used, capacity - used, "%s%s", used ? ", " : "", command_table[i].name);
        used += more > 0 ? (size_t)more : 0;
    }
    if (used < capacity)
        snprintf(out + used, capacity - used, ": ");
}

void option_argument_text(const struct option_info *option, char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    if (option->argument) {
        snprintf(out, capacity, "%s", option->argument);
        return;
    }
    for (int i = 0; option->choices && option->choices[i] && used < capacity; i++) {
        int more = snprintf(out + used, capacity - used, "%s%s", i ? "|" : "", option->choices[i]);
        used += more > 0 ? (size_t)more : 0;
    }
}

void option_form(const struct option_info *option, char *out, size_t capacity)
{
    char argument[80];
    option_argument_text(option, argument, sizeof argument);
    const char *before = option->kind == OPTION_KIND_FLAG ? "" : option->kind == OPTION_KIND_OPTIONAL ? "[=" : " ";
    const char *after = option->kind == OPTION_KIND_OPTIONAL ? "]" : "";
    if (option->letter)
        snprintf(out, capacity, "-%c, --%s%s%s%s", option->letter, option->name, before, argument, after);
    else
        snprintf(out, capacity, "    --%s%s%s%s", option->name, before, argument, after);
}
