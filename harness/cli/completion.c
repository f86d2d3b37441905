/*
 * completion.c - shell completions for bash and zsh, made from the tables of options.h. Called by help.c for `help
 * --completion`.
 */
#include "cli/help.h"

#include <string.h>

static void add_words(struct text *out, const char *const words[])
{
    for (int i = 0; words[i]; i++)
        text_add(out, "%s%s", i ? " " : "", words[i]);
}

static bool takes_argument(const struct option_info *option)
{
    return option->kind != OPTION_KIND_FLAG && option->kind != OPTION_KIND_OPTIONAL;
}

static void add_command_names(struct text *out)
{
    const char *between = "";
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (command_table[i].hidden)
            continue;
        text_add(out, "%s%s", between, command_table[i].name);
        between = " ";
    }
}

/* "torch|cublas|...": the plugins that hold the project's baselines, up to the first '-' or '.' of a family's name. */
static void add_baseline_plugins(struct text *out)
{
    for (int i = 0; family_names[i]; i++)
        text_add(out, "%s%.*s", i ? "|" : "", (int)strcspn(family_names[i], "-."), family_names[i]);
}

/* For both shells: the kernel sets, kernels and plugins that the program finds, as run and verify would. Loads nothing,
 * so that it answers at once. */
static void kernels_function(struct text *out)
{
    text_add(out, "_cudal2_bench_kernels()\n{\n"
                  "    local home directory\n"
                  "    home=$(readlink -f -- \"$(command -v -- \"$1\")\" 2>/dev/null)\n"
                  "    home=${home%%/*}\n"
                  "    for directory in \"${CUDAL2_KERNELS:-$home/../kernels}\" \"$home/kernels\"; do\n"
                  "        if [ -d \"$directory/harness\" ]; then\n"
                  "            find \"$directory\" \"$directory/sets\" -maxdepth 1 -name '*.json' "
                  "! -name '*.schema.json' 2>/dev/null\n"
                  "            break\n        fi\n    done | sed 's,.*/,,; s,[.]json$,,'\n"
                  "    find \"$home/plugins\" -maxdepth 1 -name '*.so' 2>/dev/null | sed 's,.*/,,; s,[.]so$,,' |\n"
                  "        grep -Evx '");
    add_baseline_plugins(out);
    text_add(out, "'\n}\n");
}

/* Files beside what `words`, a shell expression, says; compopt marks directories, and is there while completing. */
static void bash_files(struct text *out, const char *words)
{
    text_add(out, "compopt -o filenames 2>/dev/null; COMPREPLY=(%s$(compgen -f -- \"$cur\"))", words);
}

static void bash_hinted(struct text *out, enum option_hint hint)
{
    static const char kernels[] = "$(compgen -W \"$(_cudal2_bench_kernels \"${COMP_WORDS[0]}\")\" -- \"$cur\") ";
    if (hint == OPTION_HINT_DIRECTORY)
        text_add(out, "COMPREPLY=($(compgen -d -- \"$cur\"))");
    else
        bash_files(out, hint == OPTION_HINT_KERNELS ? kernels : "");
}

static enum option_id id_of(const struct option_info *option)
{
    return (enum option_id)(option - option_table);
}

static void bash_words(struct text *out, const char *const words[])
{
    text_add(out, "COMPREPLY=($(compgen -W \"");
    add_words(out, words);
    text_add(out, "\" -- \"$cur\"))");
}

/* By command where one of them has choices of its own. */
static void bash_choices(struct text *out, const struct option_info *option)
{
    bool differ = false;
    for (int i = 0; i < COMMAND_COUNT; i++)
        differ = differ || option_choices(id_of(option), (enum command)i) != option->choices;
    if (!differ) {
        bash_words(out, option->choices);
        return;
    }
    text_add(out, "case $command in");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!((option->commands >> i) & 1u))
            continue;
        text_add(out, " %s) ", command_table[i].name);
        bash_words(out, option_choices(id_of(option), (enum command)i));
        text_add(out, " ;;");
    }
    text_add(out, " esac");
}

/* "    -c|--config) ...": what may follow an option that takes a separate argument. */
static void bash_argument(struct text *out, const struct option_info *option)
{
    text_add(out, "    ");
    if (option->letter)
        text_add(out, "-%c|", option->letter);
    text_add(out, "--%s) ", option->name);
    switch (option->hint) {
    case OPTION_HINT_FILE:
    case OPTION_HINT_DIRECTORY:
    case OPTION_HINT_KERNELS:
        bash_hinted(out, option->hint);
        break;
    case OPTION_HINT_CHOICES:
        bash_choices(out, option);
        break;
    case OPTION_HINT_NONE:
        text_add(out, ":");
        break;
    }
    text_add(out, "; return ;;\n");
}

static void bash_options(struct text *out, enum command command)
{
    text_add(out, "    %s) words=\"", command_table[command].name);
    const char *between = "";
    for (int i = 0; i < OPTION_COUNT; i++) {
        if ((option_table[i].commands >> command) & 1u) {
            text_add(out, "%s--%s", between, option_table[i].name);
            between = " ";
        }
    }
    text_add(out, "\" ;;\n");
}

/* Words that are no options, by command. */
static void bash_operands(struct text *out)
{
    text_add(out, "    if [[ $cur != -* ]]; then\n        case $command in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (command_table[i].hidden || command_table[i].hint == OPTION_HINT_NONE)
            continue;
        text_add(out, "        %s) ", command_table[i].name);
        bash_hinted(out, command_table[i].hint);
        text_add(out, "; return ;;\n");
    }
    text_add(out, "        esac\n        words=\"");
    add_command_names(out);
    text_add(out, "\"\n    fi\n");
}

/* Which command the line names: the choices of an option may depend on it. */
static void bash_command(struct text *out)
{
    const char *between = "";
    text_add(out, "    for ((i = 1; i < COMP_CWORD; i++)); do\n        case ${COMP_WORDS[i]} in\n        ");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (command_table[i].hidden)
            continue;
        text_add(out, "%s%s", between, command_table[i].name);
        between = "|";
    }
    text_add(out, ") command=${COMP_WORDS[i]}; break ;;\n        esac\n    done\n");
}

/* bash splits words at '=' and ':' (COMP_WORDBREAKS): the value of --mode=server follows a word "=", and is completed
 * as if it followed "--mode"; device names with ':' are completed up to the colon. */
static void bash_script(struct text *out)
{
    text_add(out,
             "# bash completion of " PROGRAM_NAME "; source this file, or put it into the completions directory.\n");
    kernels_function(out);
    text_add(out, "_cudal2_bench()\n{\n"
                  "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=run words i\n"
                  "    COMPREPLY=()\n"
                  "    if [[ $cur == = ]]; then cur=; "
                  "elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n");
    bash_command(out);
    text_add(out, "    case $prev in\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (takes_argument(&option_table[i]))
            bash_argument(out, &option_table[i]);
    }
    text_add(out, "    esac\n    case $command in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!command_table[i].hidden)
            bash_options(out, (enum command)i);
    }
    text_add(out, "    esac\n");
    bash_operands(out);
    text_add(out, "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
                  "complete -F _cudal2_bench " PROGRAM_NAME "\n");
}

/* Text inside '...[help]' of _arguments: brackets, colons and quotes have a meaning there. */
static void zsh_help(struct text *out, const char *help)
{
    for (; *help; help++) {
        if (*help == '\'')
            text_add(out, "'\\''");
        else if (strchr("[]:\\", *help))
            text_add(out, "\\%c", *help);
        else
            text_add_bytes(out, help, 1);
    }
}

static void zsh_action(struct text *out, const struct option_info *option, enum command command)
{
    const char *const *choices = option_choices(id_of(option), command);
    text_add(out, ":%s:", option->name);
    if (option->hint == OPTION_HINT_FILE) {
        text_add(out, "_files");
    } else if (option->hint == OPTION_HINT_KERNELS) {
        text_add(out, "_cudal2_bench_candidates");
    } else if (option->hint == OPTION_HINT_DIRECTORY) {
        text_add(out, "_files -/");
    } else if (option->hint == OPTION_HINT_CHOICES) {
        text_add(out, "(");
        for (int i = 0; choices[i]; i++) {
            text_add(out, "%s", i ? " " : "");
            for (const char *c = choices[i]; *c; c++) /* a bare ':' would end the action */
                text_add(out, *c == ':' ? "\\%c" : "%c", *c);
        }
        text_add(out, ")");
    }
}

static void zsh_option(struct text *out, const struct option_info *option, enum command command)
{
    const char *repeat = option->kind == OPTION_KIND_MANY ? "*" : "";
    const char *value = option->kind == OPTION_KIND_FLAG ? "" : option->kind == OPTION_KIND_OPTIONAL ? "=-" : "=";
    text_add(out, "        '%s--%s%s[", repeat, option->name, value);
    zsh_help(out, option_help(id_of(option), command));
    text_add(out, "]");
    if (option->kind == OPTION_KIND_OPTIONAL)
        text_add(out, "::%s:", option->name);
    else if (takes_argument(option))
        zsh_action(out, option, command);
    text_add(out, "'\n");
    if (!option->letter)
        return;
    text_add(out, "        '%s-%c%s[", repeat, option->letter, takes_argument(option) ? "+" : "");
    zsh_help(out, option_help(id_of(option), command));
    text_add(out, "]");
    if (takes_argument(option))
        zsh_action(out, option, command);
    text_add(out, "'\n");
}

static void zsh_script(struct text *out)
{
    text_add(out,
             "#compdef " PROGRAM_NAME "\n# zsh completion of " PROGRAM_NAME "; put it on fpath as _cudal2-bench.\n");
    kernels_function(out);
    text_add(out, "_cudal2_bench_candidates()\n{\n"
                  "    compadd -- ${(f)\"$(_cudal2_bench_kernels $words[1])\"}\n    _files\n}\n"
                  "_cudal2_bench_commands()\n{\n    _describe command commands\n}\n"
                  "_cudal2_bench()\n{\n"
                  "    local -a commands options\n    local command=run word\n    commands=(\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (command_table[i].hidden)
            continue;
        text_add(out, "        '%s:", command_table[i].name);
        zsh_help(out, command_table[i].help);
        text_add(out, "'\n");
    }
    text_add(out, "    )\n    for word in ${words[2,CURRENT-1]}; do\n"
                  "        if (( ${commands[(I)$word:*]} )); then command=$word; break; fi\n    done\n"
                  "    case $command in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (command_table[i].hidden)
            continue;
        text_add(out, "    %s) options=(\n", command_table[i].name);
        for (int j = 0; j < OPTION_COUNT; j++) {
            if ((option_table[j].commands >> i) & 1u)
                zsh_option(out, &option_table[j], (enum command)i);
        }
        text_add(out, "    ) ;;\n");
    }
    text_add(out, "    esac\n    local operands=_files\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (command_table[i].hint == OPTION_HINT_KERNELS)
            text_add(out, "    [[ $command == %s ]] && operands=_cudal2_bench_candidates\n", command_table[i].name);
    text_add(out, "    [[ $command == %s ]] && operands=_cudal2_bench_commands\n", command_table[COMMAND_HELP].name);
    text_add(out, "    _arguments -s -S $options '1: :{_describe command commands}' \"*: :$operands\"\n}\n"
                  "_cudal2_bench \"$@\"\n");
}

void help_completion(struct text *out, enum completion_shell shell)
{
    if (shell == COMPLETION_BASH)
        bash_script(out);
    else
        zsh_script(out);
}
