/** The law of casts: no code, tests included, casts to an unrelated type. */
import { type ESTree, Visitor } from 'rolldown/utils';
import { isCode, type Source } from '../source-files.ts';
import { parseSource } from '../syntax.ts';
import { type Law, type Violation, violationAt } from '../violation.ts';

type Cast = ESTree.TSAsExpression | ESTree.TSTypeAssertion;

/** A cast to unknown is safe by itself: the compiler checks every use of the value. */
const UNRELATED = new Set(['TSUnknownKeyword', 'TSNeverKeyword']);

function unwrap(node: ESTree.Expression): ESTree.Expression {
  return node.type === 'ParenthesizedExpression' ? unwrap(node.expression) : node;
}

function findDoubleCasts(source: Source): Violation[] {
  const found: Violation[] = [];
  const add = ({ expression, typeAnnotation, start }: Cast) => {
    if (typeAnnotation.type === 'TSUnknownKeyword') return;
    const inner = unwrap(expression);
    if (inner.type !== 'TSAsExpression' && inner.type !== 'TSTypeAssertion') return;
    if (!UNRELATED.has(inner.typeAnnotation.type)) return;
    const type = source.text.slice(typeAnnotation.start, typeAnnotation.end).replace(/\s+/g, ' ');
    found.push(violationAt(source, { start }, `casts through unknown to ${type}: correct the type instead.`));
  };
  new Visitor({ TSAsExpression: add, TSTypeAssertion: add }).visit(parseSource(source).program);
  return found;
}

export const doubleCasts: Law = {
  name: 'double-casts',
  findViolations: (sources) => sources.filter(isCode).flatMap(findDoubleCasts),
};
