/**
 * The law of JSON: `JSON.parse` returns `any`, behind which every annotation hides a cast. Its value is `unknown`, or dropped, until
 * a schema or a check of the fields has given it a type.
 */
import { type ESTree, Visitor } from 'rolldown/utils';
import { isCode, isTesting, type Source } from '../source-files.ts';
import { parseSource } from '../syntax.ts';
import { type Law, type Violation, violationAt } from '../violation.ts';

function isUnknown(type: ESTree.TSType | null | undefined): boolean {
  if (type?.type !== 'TSTypeReference') return type?.type === 'TSUnknownKeyword';
  const isPromise = type.typeName.type === 'Identifier' && type.typeName.name === 'Promise';
  return isPromise && isUnknown(type.typeArguments?.params[0]);
}

function isParse(node: ESTree.Node): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const { object, property } = node.callee;
  return (
    object.type === 'Identifier' &&
    object.name === 'JSON' &&
    property.type === 'Identifier' &&
    property.name === 'parse'
  );
}

/** Lists the calls of `JSON.parse` that can be the value of the expression. */
function listParses(node: ESTree.Node | null | undefined): ESTree.Node[] {
  if (node?.type === 'ConditionalExpression')
    return [...listParses(node.consequent), ...listParses(node.alternate)];
  if (node?.type === 'LogicalExpression') return [...listParses(node.left), ...listParses(node.right)];
  return node && isParse(node) ? [node] : [];
}

/** Returns the calls whose value gets a type without a check, and the casts of a variable that has the value of one. */
function findUncheckedParses(source: Source): Violation[] {
  const calls: ESTree.Node[] = [];
  const checked = new Set<ESTree.Node>();
  const parsedNames = new Set<string>();
  const unknownNames = new Set<string>();
  const assignments: ESTree.AssignmentExpression[] = [];
  const casts: ESTree.TSAsExpression[] = [];
  const results: boolean[] = [];
  const accept = (node: ESTree.Node | null | undefined): ESTree.Node[] => {
    const found = listParses(node);
    for (const call of found) checked.add(call);
    return found;
  };
  const enter = ({ returnType, body }: ESTree.Function | ESTree.ArrowFunctionExpression) => {
    results.push(isUnknown(returnType?.typeAnnotation));
    if (results.at(-1)) accept(body);
  };
  const leave = () => {
    results.pop();
  };
  new Visitor({
    FunctionDeclaration: enter,
    FunctionExpression: enter,
    ArrowFunctionExpression: enter,
    'FunctionDeclaration:exit': leave,
    'FunctionExpression:exit': leave,
    'ArrowFunctionExpression:exit': leave,
    CallExpression(node) {
      if (isParse(node)) calls.push(node);
    },
    ReturnStatement({ argument }) {
      if (results.at(-1)) accept(argument);
    },
    ExpressionStatement({ expression }) {
      accept(expression);
    },
    VariableDeclarator({ id, init }) {
      if (id.type !== 'Identifier' || !isUnknown(id.typeAnnotation?.typeAnnotation)) return;
      unknownNames.add(id.name);
      if (accept(init).length > 0) parsedNames.add(id.name);
    },
    AssignmentExpression(node) {
      assignments.push(node);
    },
    TSAsExpression(node) {
      if (isUnknown(node.typeAnnotation)) accept(node.expression);
      else casts.push(node);
    },
  }).visit(parseSource(source).program);
  for (const { left, right } of assignments)
    if (left.type === 'Identifier' && unknownNames.has(left.name) && accept(right).length > 0)
      parsedNames.add(left.name);
  const unchecked = [
    ...calls.filter((call) => !checked.has(call)),
    ...casts.filter(({ expression: { type, ...one } }) => 'name' in one && parsedNames.has(String(one.name))),
  ];
  return unchecked.map((node) =>
    violationAt(
      source,
      node,
      'gives parsed JSON a type without a check: use parseColumn or createJsonParser, or check its fields.',
    ),
  );
}

/** Product code parses JSON with a schema, and elsewhere only where the baseline allows it. */
export const jsonParse: Law = {
  name: 'json-parse',
  findViolations: (sources) =>
    sources
      .filter((source) => isCode(source) && !isTesting(source.path) && PRODUCT.test(source.path))
      .flatMap(findUncheckedParses),
};

const PRODUCT = /^(cli|console|contract|explorer|runner|server|site|solver-logs|worker)\//;
