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

function findLongFunctions(source: Source): Violation[] {
  return listFunctions(source).flatMap(({ node, calledBy }) => {
    if (isTesting(source.path) && isTestBody(calledBy)) return [];
    const lines = lineNumberAt(source, node.end) - lineNumberAt(source, node.start) + 1;
    if (lines <= FUNCTION_LINES_MAX) return [];
    const message = `is a function of ${lines} lines; at most ${FUNCTION_LINES_MAX} are allowed: extract one step.`;
    return [violationAt(source, node, message)];
  });
}

function isThis(parameter: ESTree.ParamPattern): boolean {
  return parameter.type === 'Identifier' && parameter.name === 'this';
}

function findManyParameters(source: Source): Violation[] {
  return listFunctions(source).flatMap(({ node }) => {
    const count = node.params.filter((parameter) => !isThis(parameter)).length;
    if (count <= PARAMETERS_MAX) return [];
    const message = `is a function of ${count} parameters; at most ${PARAMETERS_MAX} are allowed: pass an object with names.`;
    return [violationAt(source, node, message)];
  });
}

/** Functions have at most 70 lines. A closure counts by itself and in the function around it. */
export const functionLength: Law = {
  name: 'function-length',
  findViolations: (sources) => sources.filter(isCode).flatMap(findLongFunctions),
};

/** Functions have at most four parameters. */
export const parameterCount: Law = {
  name: 'parameter-count',
  findViolations: (sources) => sources.filter(isCode).flatMap(findManyParameters),
};
