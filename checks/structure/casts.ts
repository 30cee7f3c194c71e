/** Laws about casts: unchecked types are counted, and a cast through `unknown` is an exception. */
import { type ESTree, Visitor } from 'rolldown/utils';
import { isCode, isTesting, type Source } from '../source-files.ts';
import { parseSource } from '../syntax.ts';
import { type Law, type Violation, violationAt } from '../violation.ts';

type Cast = ESTree.TSAsExpression | ESTree.TSTypeAssertion;

function isConst(type: ESTree.TSType): boolean {
  return (
    type.type === 'TSTypeReference' && type.typeName.type === 'Identifier' && type.typeName.name === 'const'
  );
}

function listCasts(source: Source): Cast[] {
  const casts: Cast[] = [];
  const add = (node: Cast) => {
    // A cast to unknown is safe: the compiler checks every use of the value.
    if (!isConst(node.typeAnnotation) && node.typeAnnotation.type !== 'TSUnknownKeyword') casts.push(node);
  };
  new Visitor({ TSAsExpression: add, TSTypeAssertion: add }).visit(parseSource(source).program);
  return casts;
}

function typeText(source: Source, { typeAnnotation }: Cast): string {
  return source.text.slice(typeAnnotation.start, typeAnnotation.end).replace(/\s+/g, ' ');
}

function findCasts(source: Source): Violation[] {
  return listCasts(source).map((node) =>
    violationAt(
      source,
      node,
      `casts to ${typeText(source, node)}: parse it with a schema, or narrow its type.`,
    ),
  );
}

function unwrap(node: ESTree.Expression): ESTree.Expression {
  return node.type === 'ParenthesizedExpression' ? unwrap(node.expression) : node;
}

function isThroughUnknown(cast: Cast): boolean {
  const expression = unwrap(cast.expression);
  return (
    (expression.type === 'TSAsExpression' || expression.type === 'TSTypeAssertion') &&
    (expression.typeAnnotation.type === 'TSUnknownKeyword' ||
      expression.typeAnnotation.type === 'TSNeverKeyword')
  );
}

function findDoubleCasts(source: Source): Violation[] {
  return listCasts(source)
    .filter(isThroughUnknown)
    .map((node) =>
      violationAt(
        source,
        node,
        `casts through unknown to ${typeText(source, node)}: correct the type instead.`,
      ),
    );
}

/** Product code casts only where the baseline allows it. */
export const casts: Law = {
  name: 'casts',
  findViolations: (sources) =>
    sources.filter((source) => isCode(source) && !isTesting(source.path)).flatMap(findCasts),
};

/** No code, tests included, casts to an unrelated type. */
export const doubleCasts: Law = {
  name: 'double-casts',
  findViolations: (sources) => sources.filter(isCode).flatMap(findDoubleCasts),
};
