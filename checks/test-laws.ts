/** Laws about tests: all of them run, each has a name of its own, and none waits for time to pass. */
import { type ESTree, Visitor } from 'rolldown/utils';
import type { Source } from './source-files.ts';
import { formatLocation, lineNumberAt, literalText, parseSource } from './syntax.ts';

const RUNNERS = new Set(['test', 'it', 'describe', 'suite', 'bench']);

/** `test.concurrent.only(…)` → `['test', 'concurrent', 'only']`; the tables of `each` and `for` are looked through. */
function chain(callee: ESTree.Node): string[] {
  if (callee.type === 'Identifier') return [callee.name];
  if (callee.type === 'CallExpression') return chain(callee.callee);
  if (callee.type === 'TaggedTemplateExpression') return chain(callee.tag);
  if (callee.type === 'MemberExpression' && callee.property.type === 'Identifier') {
    return [...chain(callee.object), callee.property.name];
  }
  return [];
}

/** `!hasPython`, `runner === undefined`: conditions that say themselves what is missing. */
function isNamed(condition: ESTree.Node | undefined): boolean {
  if (condition?.type === 'UnaryExpression') return isNamed(condition.argument);
  if (condition?.type === 'BinaryExpression') return isNamed(condition.left) && isNamed(condition.right);
  return condition?.type === 'Identifier';
}

/**
 * A test that does not run proves nothing. One that needs what a host may lack says so: `context.skip('why')`, or
 * `skipIf` and `runIf` with a condition that has a speaking name, or a comment beside them.
 */
export function findSkippedTests(source: Source): string[] {
  const found: string[] = [];
  const { program, comments } = parseSource(source);
  const commented = new Set(
    comments.flatMap(({ start, end }) => [
      lineNumberAt(source, start),
      lineNumberAt(source, end),
      lineNumberAt(source, end) + 1,
    ]),
  );
  new Visitor({
    CallExpression(node) {
      const names = chain(node.callee);
      const last = names.at(-1) ?? '';
      const ofRunner = RUNNERS.has(names[0] ?? '') && node.callee.type === 'MemberExpression';
      if (ofRunner && names.includes('only')) {
        found.push(`${formatLocation(source, node)} runs only this one: take .only away.`);
      } else if (ofRunner && ['skip', 'todo', 'fails'].some((name) => names.includes(name))) {
        found.push(
          `${formatLocation(source, node)} is never run: make it pass, delete it, or skip inside it with a reason.`,
        );
      } else if (
        ofRunner &&
        (last === 'skipIf' || last === 'runIf') &&
        !isNamed(node.arguments[0]) &&
        !commented.has(lineNumberAt(source, node.start))
      ) {
        found.push(
          `${formatLocation(source, node)} runs on some hosts only: say in a comment beside it why.`,
        );
      } else if (!ofRunner && last === 'skip' && !node.arguments.some((one) => literalText(one))) {
        found.push(`${formatLocation(source, node)} skips without a word: give the reason as a string.`);
      }
    },
  }).visit(program);
  return found;
}

/** Vitest names a test by its file and its titles, so within a file the titles must tell tests apart. */
export function findRepeatedTitles(source: Source): string[] {
  const found: string[] = [];
  const seen = new Map<string, number>();
  const groups: string[] = [];
  const titleOf = (node: ESTree.CallExpression) => {
    const [first] = node.arguments;
    return node.arguments.length > 1 && first ? literalText(first) : undefined;
  };
  const isGroup = (node: ESTree.CallExpression) =>
    ['describe', 'suite'].includes(chain(node.callee)[0] ?? '');
  new Visitor({
    CallExpression(node) {
      const title = titleOf(node);
      if (title === undefined) return;
      if (isGroup(node)) groups.push(title);
      else if (['test', 'it'].includes(chain(node.callee)[0] ?? '')) {
        const full = [...groups, title].join(' › ');
        const first = seen.get(full);
        if (first === undefined) seen.set(full, lineNumberAt(source, node.start));
        else
          found.push(
            `${formatLocation(source, node)} is called "${full}" like the test in line ${first}: say what is different.`,
          );
      }
    },
    'CallExpression:exit'(node) {
      if (isGroup(node) && titleOf(node) !== undefined) groups.pop();
    },
  }).visit(parseSource(source).program);
  return found;
}

/**
 * A sleep is a promise that a timer fulfils. A timer that rejects is a deadline, and may stay: it only speaks when the
 * signal the test waits for does not come.
 */
export function findSleeps(source: Source): string[] {
  const found: string[] = [];
  const resolvers: string[] = [];
  let timers = 0;
  const tell = (node: { start: number }) => {
    found.push(
      `${formatLocation(source, node)} sleeps: wait for the signal or event itself, or move the injected clock.`,
    );
  };
  const isTimer = (node: ESTree.CallExpression) => chain(node.callee).at(-1) === 'setTimeout';
  const resolverOf = (node: ESTree.NewExpression) => {
    const [executor] = node.arguments;
    if (node.callee.type !== 'Identifier' || node.callee.name !== 'Promise') return undefined;
    if (executor?.type !== 'ArrowFunctionExpression' && executor?.type !== 'FunctionExpression')
      return undefined;
    const [first] = executor.params;
    return first?.type === 'Identifier' ? first.name : undefined;
  };
  new Visitor({
    ImportDeclaration(node) {
      if (/^(node:)?timers\/promises$/.test(node.source.value)) tell(node);
    },
    NewExpression(node) {
      const resolver = resolverOf(node);
      if (resolver !== undefined) resolvers.push(resolver);
    },
    'NewExpression:exit'(node) {
      if (resolverOf(node) !== undefined) resolvers.pop();
    },
    CallExpression(node) {
      const [first] = node.arguments;
      const called = chain(node.callee);
      if (called.at(-1) === 'promisify' && first?.type === 'Identifier' && first.name === 'setTimeout')
        tell(node);
      if (called.join('.') === 'Atomics.wait') tell(node);
      if (timers > 0 && called.length === 1 && resolvers.includes(called[0] ?? '')) tell(node);
      if (!isTimer(node)) return;
      timers += 1;
      if (first?.type === 'Identifier' && resolvers.includes(first.name)) tell(node);
    },
    'CallExpression:exit'(node) {
      if (isTimer(node)) timers -= 1;
    },
  }).visit(parseSource(source).program);
  return found;
}
