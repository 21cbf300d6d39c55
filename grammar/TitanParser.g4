// The grammar of Titan. docs/language.md shows every construct with an example.
//
// Token preparation guarantees that brackets match, and that a NEWLINE occurs exactly where a
// statement ends (also before every `}` and at the end of the file). Every entry of a block thus
// ends in its own terminator, and error recovery skips to it.
//
// Rules such as dimName and newName are separate, although both are an identifier, because error
// messages name the expected rule ("a dimension name"). The tree builder checks `a < b < c`, the
// order of arguments and the operands of `as`, with better messages. It also resolves constructs
// that would need unlimited lookahead and quadratic time: in `sum(x, over a, b)`, b is an argument
// here.
parser grammar TitanParser;

options { tokenVocab = TitanLexer; }

file: NEWLINE? declaration* EOF;
onlyExpr: expr NEWLINE? EOF;

terminator: (NEWLINE | SEMI)+;

// Declarations

declaration
    : ( importDecl
      | modelDecl
      | blockDecl
      | fnDecl
      | optimizerDecl
      | scheduleDecl
      | dataDecl
      | parallelDecl
      | trainDecl
      | configDecl
      | weightsDecl
      ) terminator
    ;

importDecl: IMPORT importItem (COMMA importItem)*;
importItem: (moduleName | STRING) (AS newName)?;
moduleName: path;

modelDecl: MODEL newName (ASSIGN modelName settings? | formals? body);
modelName: path;

blockDecl: BLOCK signature body;
signature: newName formals (ARROW results)?;
results: newName (COMMA newName)*;

fnDecl: FN signature (ASSIGN expr | body);

optimizerDecl: DEFAULT? OPTIMIZER newName formals body;
scheduleDecl: DEFAULT? SCHEDULE newName formals body;
dataDecl: DEFAULT DATA settings;

formals: LPAREN (formal (COMMA formal)* COMMA?)? RPAREN;
formal: (OVER | ALONG) newDim | WITH functionName | typedName (ASSIGN expr)?;
functionName: path;

parallelDecl: PARALLEL newName axes;
axes: LBRACE terminator? axis* RBRACE;
axis: newAxis (ASSIGN expr (OF expr settings? | splits? stores? settings?) | STRING overrides) terminator;
overrides: LBRACE terminator? overrideLine* RBRACE;
overrideLine: axisName splits? stores? terminator;
splits: SPLITS (dimNames (COMMA? elseDims)? | elseDims | NONE);
elseDims: ELSE dimNames;
dimNames: dimName (COMMA dimName)*;
stores: STORES (storedKind (COMMA storedKind)* | NONE);
storedKind: IDENT;
axisName: IDENT;

trainDecl: TRAIN newName ASSIGN trainBase (ON parallelName)? WITH? settings?;
trainBase: path;
parallelName: path;

// Weights of other software: `weights "hf" for Llama { table = "model.embed_tokens.weight" }`. The words
// `from`, `under`, `copy`, `unused`, `merge` and `split` are names, which the tree builder checks.

weightsDecl
    : WEIGHTS STRING FOR modelName (ASSIGN modelName)? weightsBody
    ;
weightsBody: LBRACE terminator? weightsEntry* RBRACE;
weightsEntry
    : ( path ASSIGN STRING storedDims?
      | path ASSIGN modelName (soleWord STRING)?
      | soleWord STRING (ASSIGN STRING | (COMMA STRING)*)
      | soleWord path ASSIGN expr
      | soleWord dimName AS LPAREN dimsItem (COMMA dimsItem)* COMMA? RPAREN
      ) terminator
    ;
storedDims: LBRACKET (storedDim (COMMA storedDim)* COMMA?)? RBRACKET;
storedDim: (storedFactor | LPAREN storedFactor (COMMA storedFactor)* COMMA? RPAREN) (soleWord expr)?;
storedFactor: INT OF expr | dimName (OF expr (soleWord expr)?)?;
soleWord: IDENT;

// Configurations of other software.

configDecl: CONFIG (STRING FOR modelName (IN configKey)? | newName) (WITH sectionName (COMMA sectionName)*)? configBody;
sectionName: path;
configBody: LBRACE terminator? configEntry* RBRACE;
configEntry
    : ( configKeys elements? ASSIGN expr (DEFAULT expr (UNLESS NONE)?)?
      | OPTIONAL configKeys (UNLESS configKey EQ expr)? configBody
      | (IGNORE | TRAINING) configKey (COMMA configKey)* (UNLESS configKey EQ expr)?
      ) terminator
    ;
configKeys: configKey (OR configKey)*;
configKey: path;
elements: LBRACKET expr AS newName RBRACKET;

// Settings

settings: LBRACE entryEnd? setting* RBRACE;
entryEnd: (NEWLINE | SEMI | COMMA)+;
setting: key (ASSIGN (expr settings? | settings) | STRING? settings) entryEnd;
key: word (DOT word)*;

// Statements

body: LBRACE terminator? statement* RBRACE;

statement
    : ( dimsStmt
      | paramStmt
      | updateStmt
      | lossStmt
      | metricStmt
      | stateStmt
      | optionStmt
      | inputStmt
      | outputStmt
      | letStmt
      | assignStmt
      | returnStmt
      | repeatStmt
      | ifStmt
      | precisionStmt
      ) terminator
    ;

dimsStmt: DIMS dimsItem (COMMA dimsItem)*;
dimsItem: newDim (ASSIGN expr)?;
paramStmt: (PARAM | BUFFER) typedName ((ASSIGN | TILDE) expr)? settings?;
updateStmt: UPDATE bufferName ASSIGN expr;
lossStmt: LOSS newName ASSIGN expr;
metricStmt: METRIC newName ASSIGN expr;
stateStmt: STATE newName dimList?;
optionStmt: OPTION newName ASSIGN expr settings?;
inputStmt: INPUT typedName;
outputStmt: OUTPUT typedName (ASSIGN expr)?;
letStmt: LET typedName (COMMA typedName)* ASSIGN expr;
assignStmt: target (COMMA newName)* ASSIGN expr;
returnStmt: RETURN expr (COMMA expr)*;
repeatStmt: REPEAT expr (AS newName)? body;
ifStmt: IF expr body (ELSE IF expr body)* (ELSE body)?;
precisionStmt: IN typeName body;

target: IDENT;
bufferName: IDENT;
typedName: newName (dimList | COLON typeName dimList?)?;
typeName: IDENT;
dimList: LBRACKET (dimRef (COMMA dimRef)* COMMA?)? RBRACKET;
dimRef: dimName (AS hidingWord? newDim)?;
hidingWord: soleWord;

// Expressions, tightest first

expr
    : operand                                          # operandExpr
    | <assoc = right> expr op = POW expr               # binary
    | MINUS expr                                       # negate
    | expr op = (STAR | SLASH | PERCENT | AT) expr     # binary
    | expr op = (PLUS | MINUS) expr                    # binary
    | expr op = (EQ | NE | LE | GE | LT | GT) expr     # binary
    | NOT expr                                         # logicalNot
    | expr op = AND expr                               # binary
    | expr op = OR expr                                # binary
    | IF expr THEN expr ELSE expr                      # conditional
    | MATCH expr arms                                  # choice
    ;

arms: LBRACE terminator? arm* RBRACE;
arm: expr (COMMA expr)* THEN expr terminator;

operand: primary bracket*;

primary
    : path arguments?                                  # nameOrCall
    | INT                                              # int
    | FLOAT                                            # float
    | STRING                                           # string
    | (TRUE | FALSE)                                   # bool
    | NONE                                             # none
    | LPAREN (expr (COMMA expr)* COMMA?)? RPAREN       # parens
    | LBRACKET (expr (COMMA expr)* COMMA?)? RBRACKET   # list
    ;

arguments: LPAREN (argument (COMMA argument)* COMMA?)? RPAREN;

argument
    : word ASSIGN expr                                 # keywordArgument
    | (OVER | ALONG) dimsArgument                      # dimArgument
    | WITH functionName                                # passedArguments
    | expr (AS newDims)? (ALONG dimName (AS newDim)?)? # positionalArgument
    ;

dimsArgument: (dimName | LPAREN dimNames COMMA? RPAREN) (AS newDims)?;
newDims: newDim | LPAREN newDim (COMMA newDim)* COMMA? RPAREN;

bracket: LBRACKET (bracketItem (COMMA bracketItem)* COMMA?)? RBRACKET;
bracketItem: dimName (COLON index)? (AS hidingWord? newDim)?;
index: expr (RANGE expr?)? | RANGE expr?;

// Names. A keyword may follow a dot or be a key, where it is unambiguous.

path: IDENT (DOT word)*;
dimName: path;
newName: IDENT;
newDim: IDENT;
newAxis: IDENT;

word
    : IDENT | IMPORT | MODEL | BLOCK | FN | PARALLEL | TRAIN | DIMS | PARAM | INPUT | OUTPUT | LET
    | REPEAT | RETURN | IN | IF | THEN | ELSE | MATCH | AS | ON | WITH | SPLITS | STORES | OF | OVER | ALONG | AND
    | OR | NOT | TRUE | FALSE | NONE
    ;
