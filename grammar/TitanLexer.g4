// The tokens of Titan. Line ends are tokens here; token preparation (compiler/syntax/PrepareTokens.h)
// decides which of them end a statement. Words with a meaning in one context (`auto`, `causal`,
// `params`, `group`) are not keywords, so they may name dimensions and settings.
// `buffer`, `update`, `loss`, `metric`, `optimizer`, `schedule`, `state` and `option` are keywords only before a name,
// `default` only before `optimizer`, `schedule` and `data`, `data` only between `default` and a brace; `weights` only before a string; likewise the words of `config` declarations, some of which
// follow an operand (lex()). Elsewhere they are names.
// The input consists of bytes; text outside ASCII occurs only in comments and strings.
lexer grammar TitanLexer;

channels { COMMENTS }

IMPORT: 'import';
MODEL: 'model';
BLOCK: 'block';
FN: 'fn';
DEFAULT: 'default';
OPTIMIZER: 'optimizer';
SCHEDULE: 'schedule';
PARALLEL: 'parallel';
TRAIN: 'train';
WEIGHTS: 'weights';
CONFIG: 'config';
FOR: 'for';
OPTIONAL: 'optional';
UNLESS: 'unless';
IGNORE: 'ignore';
TRAINING: 'training';
DATA: 'data';
DIMS: 'dims';
PARAM: 'param';
BUFFER: 'buffer';
UPDATE: 'update';
LOSS: 'loss';
METRIC: 'metric';
STATE: 'state';
OPTION: 'option';
INPUT: 'input';
OUTPUT: 'output';
LET: 'let';
REPEAT: 'repeat';
RETURN: 'return';
IN: 'in';
IF: 'if';
THEN: 'then';
ELSE: 'else';
MATCH: 'match';
AS: 'as';
ON: 'on';
WITH: 'with';
SPLITS: 'splits';
STORES: 'stores';
OF: 'of';
OVER: 'over';
ALONG: 'along';
AND: 'and';
OR: 'or';
NOT: 'not';
TRUE: 'true';
FALSE: 'false';
NONE: 'none';

ARROW: '->';
RANGE: '..';
POW: '**';
EQ: '==';
NE: '!=';
LE: '<=';
GE: '>=';
LT: '<';
GT: '>';
ASSIGN: '=';
TILDE: '~';
PLUS: '+';
MINUS: '-';
STAR: '*';
SLASH: '/';
PERCENT: '%';
AT: '@';
COMMA: ',';
SEMI: ';';
COLON: ':';
DOT: '.';
LPAREN: '(';
RPAREN: ')';
LBRACKET: '[';
RBRACKET: ']';
LBRACE: '{';
RBRACE: '}';

FLOAT: DIGITS '.' DIGITS EXPONENT? | DIGITS EXPONENT;
INT: DIGITS;
STRING: '"' (~["\\\r\n] | '\\' ~[\r\n])* '"';
IDENT: [A-Za-z_] [A-Za-z0-9_]*;

NEWLINE: '\r'? '\n';
COMMENT: '#' ~[\r\n]* -> channel(COMMENTS);
SPACE: [ \t]+ -> skip;
BYTE_ORDER_MARK: '\u00EF\u00BB\u00BF' -> skip;

// Invalid tokens; each causes its own diagnostic.
OPEN_STRING: '"' (~["\\\r\n] | '\\' ~[\r\n])*;
STRAY: .;

fragment DIGITS: [0-9] ('_'? [0-9])*;
fragment EXPONENT: [eE] [+-]? [0-9]+;
