/** Laws about functions: their length and the number of their parameters. */
import { type ESTree, Visitor } from 'rolldown/utils';
import { isCode, isTesting, type Source } from '../source-files.ts';
import { lineNumberAt, parseSource } from '../syntax.ts';
import { type Law, type Violation, violationAt } from '../violation.ts';

export const FUNCTION_LINES_MAX = 70;
export const PARAMETERS_MAX = 4;

type FunctionNode = ESTree.Function | ESTree.ArrowFunctionExpression;

/** Returns the functions with a body in a source, each with the call that receives it as an argument, if any. */
function listFunctions(
  source: Source,
): { node: FunctionNode; calledBy: ESTree.CallExpression | undefined }[] {
  const functions: FunctionNode[] = [];
  const callers = new Map<ESTree.Node, ESTree.CallExpression>();
  const add = (node: FunctionNode) => {
    if (node.body) functions.push(node);
  };
  new Visitor({
    CallExpression(node) {
      for (const argument of node.arguments) callers.set(argument, node);
    },
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
  }).visit(parseSource(source).program);
  return functions.map((node) => ({ node, calledBy: callers.get(node) }));
}

/** `test.concurrent.each(…)(…)` → `test`. */
function firstName(callee: ESTree.Node): string | undefined {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type === 'MemberExpression') return firstName(callee.object);
  if (callee.type === 'CallExpression') return firstName(callee.callee);
  if (callee.type === 'TaggedTemplateExpression') return firstName(callee.tag);
  return undefined;
}

const TEST_CALLS = new Set(['describe', 'suite', 'test', 'it', 'bench']);

/** A body of `describe` or `test` is a list of cases, so its length does not matter. */
function isTestBody(call: ESTree.CallExpression | undefined): boolean {
  return call !== undefined && TEST_CALLS.has(firstName(call.callee) ?? '');
}

/** Lists the outermost JSX elements of a source. */
function listMarkup(source: Source): ESTree.Node[] {
  const found: ESTree.Node[] = [];
  const add = (node: ESTree.Node) => {
    if (!found.some(({ start, end }) => start <= node.start && node.end <= end)) found.push(node);
  };
  new Visitor({ JSXElement: add, JSXFragment: add }).visit(parseSource(source).program);
  return found;
}

function findLongFunctions(source: Source): Violation[] {
  const countBreaks = ({ start, end }: ESTree.Node) =>
    lineNumberAt(source, end) - lineNumberAt(source, start);
  const markup = source.path.endsWith('.tsx') ? listMarkup(source) : [];
  return listFunctions(source).flatMap(({ node, calledBy }) => {
    if (isTesting(source.path) && isTestBody(calledBy)) return [];
    const inside = markup.filter(({ start, end }) => node.start <= start && end <= node.end);
    const lines = countBreaks(node) + 1 - inside.reduce((sum, one) => sum + countBreaks(one), 0);
    if (lines <= FUNCTION_LINES_MAX) return [];
    const message = `is a function of ${lines} lines; at most ${FUNCTION_LINES_MAX} are allowed: extract one step.`;
    return [violationAt(source, node, message)];
  });
}

function isThis(parameter: ESTree.ParamPattern): boolean {
  return parameter.type === 'Identifier' && parameter.name === 'this';
}

/** Lists the functions that other files can call by a name. */
function listExportedFunctions(source: Source): FunctionNode[] {
  return parseSource(source).program.body.flatMap((statement): FunctionNode[] => {
    const declaration =
      statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration'
        ? statement.declaration
        : null;
    if (declaration?.type === 'FunctionDeclaration') return declaration.body ? [declaration] : [];
    if (declaration?.type !== 'VariableDeclaration') return [];
    return declaration.declarations.flatMap(({ init }) =>
      init?.type === 'ArrowFunctionExpression' || init?.type === 'FunctionExpression' ? [init] : [],
    );
  });
}

function findManyParameters(source: Source): Violation[] {
  return listExportedFunctions(source).flatMap((node) => {
    const count = node.params.filter((parameter) => !isThis(parameter)).length;
    if (count <= PARAMETERS_MAX) return [];
    const message = `is a function of ${count} parameters; at most ${PARAMETERS_MAX} are allowed: pass an object with names.`;
    return [violationAt(source, node, message)];
  });
}

/** Functions have at most 70 lines, without those of JSX. A closure counts by itself and in the function around it. */
export const functionLength: Law = {
  name: 'function-length',
  findViolations: (sources) => sources.filter(isCode).flatMap(findLongFunctions),
};

/** Exported functions have at most four parameters. */
export const parameterCount: Law = {
  name: 'parameter-count',
  findViolations: (sources) => sources.filter(isCode).flatMap(findManyParameters),
};
