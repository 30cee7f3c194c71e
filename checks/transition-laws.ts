/** The law that only the transition modules write statuses. */
import { type ESTree, Visitor } from 'rolldown/utils';
import { listServerSources } from './server-laws.ts';
import type { Source } from './source-files.ts';
import { formatLocation, literalText, parseSource } from './syntax.ts';

const STATUS_TABLES = ['runs', 'experiments', 'acceptance_tests'];
const TRANSITION_MODULES = ['server/runs/store/transitions.ts', 'server/experiments/store/transitions.ts'];
const STATUS_SQL = new RegExp(
  `\\b(update|insert\\s+into|replace\\s+into)\\s+"?(${STATUS_TABLES.map(RegExp.escape).join('|')})\\b`,
  'i',
);

/**
 * Only the transition modules write the status of runs, experiments and acceptance tests. They insert the rows, and
 * derive every status change from the tables in contract/states.ts. Any other statement that updates such a table lists
 * its columns, without `status`. A reader and this law can therefore see what it writes.
 */
export function findStatusWrites(sources: readonly Source[]): string[] {
  const others = listServerSources(sources, 'platform/database/').filter(
    ({ path }) => !TRANSITION_MODULES.includes(path),
  );
  return others.flatMap((source) => {
    const found: string[] = [];
    const report = (node: { start: number }, fault: string) => {
      found.push(
        `${formatLocation(source, node)} ${fault}: write a status with a transition module (${TRANSITION_MODULES.join(', ')}).`,
      );
    };
    const visibleUpdates = new Set<number>();
    new Visitor({
      CallExpression(node) {
        const [table] = node.arguments;
        const method = methodName(node);
        if (method === 'set' && isChainedTo(node, 'updateTable') && listsOtherColumns(table))
          visibleUpdates.add(node.callee.object.end);
        if (method !== 'updateTable' && method !== 'insertInto' && method !== 'replaceInto') return;
        const name = literalText(table)?.split(' ')[0];
        if (name === undefined) report(node, `names the table of ${method} in a variable`);
        else if (STATUS_TABLES.includes(name) && (method !== 'updateTable' || !visibleUpdates.has(node.end)))
          report(table ?? node, `may write the status of ${name}`);
      },
      TaggedTemplateExpression({ tag, quasi }) {
        const [clause] = STATUS_SQL.exec(literalText(quasi) ?? '') ?? [];
        if (tag.type === 'Identifier' && tag.name === 'sql' && clause !== undefined)
          report(quasi, `writes with "${clause.replace(/\s+/g, ' ')}"`);
      },
    }).visit(parseSource(source).program);
    return found;
  });
}

type MethodCall = ESTree.CallExpression & { callee: ESTree.StaticMemberExpression };

function methodName({ callee }: ESTree.CallExpression): string | undefined {
  return callee.type === 'MemberExpression' && callee.property.type === 'Identifier'
    ? callee.property.name
    : undefined;
}

/** Returns whether the method is called on the result of a call of the other method. */
function isChainedTo(node: ESTree.CallExpression, method: string): node is MethodCall {
  const { callee } = node;
  return (
    callee.type === 'MemberExpression' &&
    callee.object.type === 'CallExpression' &&
    methodName(callee.object) === method
  );
}

/** Returns whether the argument is an object, or a function that returns one, with literal keys other than `status`. */
function listsOtherColumns(argument: ESTree.Node | undefined): boolean {
  if (argument?.type === 'ParenthesizedExpression') return listsOtherColumns(argument.expression);
  if (argument?.type === 'ArrowFunctionExpression' && argument.expression)
    return listsOtherColumns(argument.body);
  if (argument?.type !== 'ObjectExpression') return false;
  return argument.properties.every(
    (property) =>
      property.type === 'Property' &&
      !property.computed &&
      property.key.type === 'Identifier' &&
      property.key.name !== 'status',
  );
}
