/*
 * expr.c - parses an integer expression of a manifest into nodes and evaluates it; overflow, division by zero and
 * unknown names are errors with a column. Called by manifest*.c, choice/space.c and, for `--where`, cli/shapes.c.
 */
#include "contender/expr.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

enum op {
    OP_NUMBER,
    OP_NAME,
    OP_NEGATE,
    OP_NOT,
    OP_CHOOSE,
    OP_OR,
    OP_AND,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_LESS_EQUAL,
    OP_GREATER_EQUAL,
    OP_LESS,
    OP_GREATER,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER,
    OP_MIN,
    OP_MAX,
    OP_CEILDIV
};

struct node {
    enum op op;
    int column; /* 1-based, for messages */
    int argument[3];
    int64_t number;
    char name[EXPR_NAME_MAX];
};

struct expr {
    char *text;
    int root;
    int count;
    struct node nodes[];
};

/* Binary operators; the longer spelling of a common prefix comes first. */
static const struct {
    const char *text;
    enum op op;
    int strength;
} binaries[] = {{"||", OP_OR, 1},         {"&&", OP_AND, 2},           {"==", OP_EQUAL, 3},   {"!=", OP_UNEQUAL, 3},
                {"<=", OP_LESS_EQUAL, 4}, {">=", OP_GREATER_EQUAL, 4}, {"<", OP_LESS, 4},     {">", OP_GREATER, 4},
                {"+", OP_ADD, 5},         {"-", OP_SUBTRACT, 5},       {"*", OP_MULTIPLY, 6}, {"/", OP_DIVIDE, 6},
                {"%", OP_REMAINDER, 6}};

static const struct {
    const char *name;
    enum op op;
} functions[] = {{"min", OP_MIN}, {"max", OP_MAX}, {"ceildiv", OP_CEILDIV}};

/* ---- parsing ---- */

struct parser {
    const char *text, *at;
    struct node *nodes;
    int count, depth;
    struct error *err;
};

/* Every parse function returns a node's index, or -1 with the error set. */
static int parse_choice(struct parser *p);

static int fail(struct parser *p, const char *message)
{
    (void)error_set(p->err, EXIT_CODE_DATA, "column %d of \"%.200s\": %s", (int)(p->at - p->text) + 1, p->text,
                    message);
    return -1;
}

static void skip_space(struct parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static int add_node(struct parser *p, enum op op, const char *where)
{
    if (p->count == EXPR_MAX_NODES)
        return fail(p, "the expression is too long");
    p->nodes[p->count] = (struct node){.op = op, .column = (int)(where - p->text) + 1, .argument = {-1, -1, -1}};
    return p->count++;
}

static int parse_number(struct parser *p)
{
    const char *start = p->at;
    int64_t value = 0;
    for (; isdigit((unsigned char)*p->at); p->at++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p->at - '0', &value))
            return fail(p, "a number over 2^63 - 1");
    if (isalpha((unsigned char)*p->at) || *p->at == '_' || *p->at == '.')
        return fail(p, "expected an integer");
    int node = add_node(p, OP_NUMBER, start);
    if (node >= 0)
        p->nodes[node].number = value;
    return node;
}

static int parse_call(struct parser *p, const char *name, const char *start)
{
    enum op op = OP_NUMBER;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            op = functions[i].op;
    if (op == OP_NUMBER) {
        p->at = start;
        return fail(p, "no such function (min, max, ceildiv)");
    }
    p->at++;
    int node = add_node(p, op, start);
    for (int i = 0; i < 2 && node >= 0; i++) {
        int argument = parse_choice(p);
        if (argument < 0)
            return -1;
        p->nodes[node].argument[i] = argument;
        if (*p->at != (i == 0 ? ',' : ')'))
            return fail(p, i == 0 ? "expected ',' and a second argument" : "expected ')' after two arguments");
        p->at++;
    }
    return node;
}

static int parse_name(struct parser *p)
{
    const char *start = p->at;
    char name[EXPR_NAME_MAX];
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    size_t length = (size_t)(p->at - start);
    if (length >= sizeof name)
        return fail(p, "a name of more than 31 characters");
    memcpy(name, start, length);
    name[length] = 0;
    skip_space(p);
    if (*p->at == '(')
        return parse_call(p, name, start);
    int node = add_node(p, OP_NAME, start);
    if (node >= 0)
        memcpy(p->nodes[node].name, name, sizeof name);
    return node;
}

static int parse_unary(struct parser *p);

static int parse_prefixed(struct parser *p, enum op op)
{
    const char *start = p->at++;
    int operand = parse_unary(p);
    int node = operand < 0 ? -1 : add_node(p, op, start);
    if (node >= 0)
        p->nodes[node].argument[0] = operand;
    return node;
}

static int parse_bracket(struct parser *p)
{
    p->at++;
    int node = parse_choice(p);
    if (node >= 0 && *p->at != ')')
        return fail(p, "expected ')'");
    p->at += node >= 0;
    return node;
}

static int parse_value(struct parser *p)
{
    skip_space(p);
    if (isdigit((unsigned char)*p->at))
        return parse_number(p);
    if (isalpha((unsigned char)*p->at) || *p->at == '_')
        return parse_name(p);
    switch (*p->at) {
    case '(':
        return parse_bracket(p);
    case '-':
        return parse_prefixed(p, OP_NEGATE);
    case '!':
        return parse_prefixed(p, OP_NOT);
    default:
        return fail(p, "expected a value");
    }
}

static int parse_unary(struct parser *p)
{
    if (++p->depth > MAX_DEPTH)
        return fail(p, "nested too deeply");
    int node = parse_value(p);
    p->depth--;
    skip_space(p);
    return node;
}

/* Index into binaries of the operator at p->at that binds at least as strongly, or -1. */
static int binary_here(const struct parser *p, int least)
{
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (strncmp(p->at, binaries[i].text, strlen(binaries[i].text)) == 0)
            return binaries[i].strength >= least ? (int)i : -1;
    return -1;
}

/* Operators of one strength group from the left. */
static int parse_binary(struct parser *p, int least)
{
    int left = parse_unary(p), which;
    while (left >= 0 && (which = binary_here(p, least)) >= 0) {
        const char *start = p->at;
        p->at += strlen(binaries[which].text);
        int right = parse_binary(p, binaries[which].strength + 1);
        int node = right < 0 ? -1 : add_node(p, binaries[which].op, start);
        if (node >= 0) {
            p->nodes[node].argument[0] = left;
            p->nodes[node].argument[1] = right;
        }
        left = node;
    }
    return left;
}

static int parse_choice(struct parser *p)
{
    if (++p->depth > MAX_DEPTH)
        return fail(p, "nested too deeply");
    int condition = parse_binary(p, 1), node = condition;
    if (condition >= 0 && *p->at == '?') {
        const char *start = p->at++;
        int yes = parse_choice(p), no = -1;
        if (yes >= 0 && *p->at != ':')
            return fail(p, "expected ':'");
        if (yes >= 0) {
            p->at++;
            no = parse_choice(p);
        }
        node = no < 0 ? -1 : add_node(p, OP_CHOOSE, start);
        if (node >= 0)
            memcpy(p->nodes[node].argument, (int[3]){condition, yes, no}, sizeof p->nodes[node].argument);
    }
    p->depth--;
    return node;
}

int expr_parse(const char *text, struct expr **out, struct error *err)
{
    struct node *nodes = malloc(EXPR_MAX_NODES * sizeof *nodes);
    struct parser p = {.text = text, .at = text, .nodes = nodes, .err = err};
    int rc = EXIT_CODE_DATA;
    *out = NULL;
    if (!nodes)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for an expression");
    if (strlen(text) > EXPR_MAX_LENGTH) {
        (void)fail(&p, "longer than 1024 characters");
        goto out;
    }
    int root = parse_choice(&p);
    if (root >= 0 && *p.at != 0)
        root = fail(&p, "expected an operator or the end");
    if (root < 0)
        goto out;
    struct expr *e = malloc(sizeof *e + (size_t)p.count * sizeof *nodes);
    char *copy = strdup(text);
    if (!e || !copy) {
        free(e);
        free(copy);
        rc = error_set(err, EXIT_CODE_INTERNAL, "no memory for an expression");
        goto out;
    }
    memcpy(e->nodes, nodes, (size_t)p.count * sizeof *nodes);
    e->count = p.count;
    e->root = root;
    e->text = copy;
    *out = e;
    rc = 0;
out:
    free(nodes);
    return rc;
}

void expr_free(struct expr *e)
{
    if (!e)
        return;
    free(e->text);
    free(e);
}

const char *expr_text(const struct expr *e)
{
    return e->text;
}

/* ---- evaluation ---- */

struct evaluation {
    const struct expr *expr;
    const struct expr_scope *scope;
    struct error *err;
};

static int complain(const struct evaluation *v, const struct node *n, const char *message)
{
    return error_set(v->err, EXIT_CODE_DATA, "column %d of \"%.200s\": %s", n->column, v->expr->text, message);
}

/* The first letter tells most names apart: a ranking evaluates some thousand plans. */
static const struct expr_variable *find(const struct expr_scope *scope, const char *name)
{
    for (size_t i = 0; i < scope->count; i++)
        if (scope->variables[i].name[0] == name[0] && strcmp(scope->variables[i].name, name) == 0)
            return &scope->variables[i];
    return NULL;
}

static int unknown(const struct evaluation *v, const struct node *n)
{
    char message[80];
    (void)error_set(v->err, EXIT_CODE_DATA, "unknown name %s", n->name);
    memcpy(message, v->err->text, sizeof message);
    message[sizeof message - 1] = 0;
    return complain(v, n, message);
}

static bool arithmetic_overflows(enum op op, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case OP_ADD:
        return __builtin_add_overflow(a, b, out);
    case OP_SUBTRACT:
        return __builtin_sub_overflow(a, b, out);
    default:
        return __builtin_mul_overflow(a, b, out);
    }
}

static int divide(const struct evaluation *v, const struct node *n, int64_t a, int64_t b, int64_t *out)
{
    if (b == 0)
        return complain(v, n, "division by zero");
    if (a == INT64_MIN && b == -1)
        return complain(v, n, "the result does not fit in 64 bits");
    *out = n->op == OP_REMAINDER ? a % b : a / b;
    if (n->op == OP_CEILDIV && a % b != 0 && (a < 0) == (b < 0))
        ++*out;
    return 0;
}

static int apply(const struct evaluation *v, const struct node *n, int64_t a, int64_t b, int64_t *out)
{
    switch (n->op) {
    case OP_EQUAL:
        *out = a == b;
        return 0;
    case OP_UNEQUAL:
        *out = a != b;
        return 0;
    case OP_LESS:
        *out = a < b;
        return 0;
    case OP_LESS_EQUAL:
        *out = a <= b;
        return 0;
    case OP_GREATER:
        *out = a > b;
        return 0;
    case OP_GREATER_EQUAL:
        *out = a >= b;
        return 0;
    case OP_MIN:
        *out = a < b ? a : b;
        return 0;
    case OP_MAX:
        *out = a > b ? a : b;
        return 0;
    case OP_DIVIDE:
    case OP_REMAINDER:
    case OP_CEILDIV:
        return divide(v, n, a, b, out);
    default:
        return arithmetic_overflows(n->op, a, b, out) ? complain(v, n, "the result does not fit in 64 bits") : 0;
    }
}

static int evaluate(const struct evaluation *v, int index, int64_t *out);

/* && || ?: look at one side first. */
static int evaluate_lazily(const struct evaluation *v, const struct node *n, int64_t *out)
{
    int64_t first;
    int rc = evaluate(v, n->argument[0], &first);
    if (rc != 0)
        return rc;
    if (n->op == OP_CHOOSE)
        return evaluate(v, n->argument[first ? 1 : 2], out);
    *out = first != 0;
    if ((n->op == OP_AND) != (first != 0))
        return 0;
    rc = evaluate(v, n->argument[1], out);
    *out = *out != 0;
    return rc;
}

static int evaluate_name(const struct evaluation *v, const struct node *n, int64_t *out)
{
    const struct expr_variable *variable = find(v->scope, n->name);
    if (!variable)
        return unknown(v, n);
    *out = variable->value;
    return 0;
}

static int evaluate_unary(const struct evaluation *v, const struct node *n, int64_t *out)
{
    int64_t operand;
    int rc = evaluate(v, n->argument[0], &operand);
    if (rc != 0)
        return rc;
    if (n->op == OP_NEGATE && operand == INT64_MIN)
        return complain(v, n, "the result does not fit in 64 bits");
    *out = n->op == OP_NEGATE ? -operand : operand == 0;
    return 0;
}

static int evaluate(const struct evaluation *v, int index, int64_t *out)
{
    const struct node *n = &v->expr->nodes[index];
    int64_t a = 0, b = 0;
    *out = 0;
    switch (n->op) {
    case OP_NUMBER:
        *out = n->number;
        return 0;
    case OP_NAME:
        return evaluate_name(v, n, out);
    case OP_NEGATE:
    case OP_NOT:
        return evaluate_unary(v, n, out);
    case OP_CHOOSE:
    case OP_OR:
    case OP_AND:
        return evaluate_lazily(v, n, out);
    default:
        if (evaluate(v, n->argument[0], &a) != 0 || evaluate(v, n->argument[1], &b) != 0)
            return v->err->code;
        return apply(v, n, a, b, out);
    }
}

int expr_check(const struct expr *e, const struct expr_scope *scope, struct error *err)
{
    struct evaluation v = {e, scope, err};
    for (int i = 0; i < e->count; i++)
        if (e->nodes[i].op == OP_NAME && !find(scope, e->nodes[i].name))
            return unknown(&v, &e->nodes[i]);
    return 0;
}

int expr_eval(const struct expr *e, const struct expr_scope *scope, int64_t *out, struct error *err)
{
    struct evaluation v = {e, scope, err};
    return evaluate(&v, e->root, out);
}
