/** Laws about tests: all of them run, each has a unique name, and none waits for time to pass. */
import { type ESTree, Visitor } from 'rolldown/utils';
import type { Source } from './source-files.ts';
import { formatLocation, lineNumberAt, literalText, parseSource } from './syntax.ts';

const RUNNERS = new Set(['test', 'it', 'describe', 'suite', 'bench']);

/** `test.concurrent.only(…)` → `['test', 'concurrent', 'only']`; calls of `each` and `for` are unwrapped. */
function listCallNames(callee: ESTree.Node): string[] {
  if (callee.type === 'Identifier') return [callee.name];
  if (callee.type === 'CallExpression') return listCallNames(callee.callee);
  if (callee.type === 'TaggedTemplateExpression') return listCallNames(callee.tag);
  if (callee.type === 'MemberExpression' && callee.property.type === 'Identifier') {
    return [...listCallNames(callee.object), callee.property.name];
  }
  return [];
}

/** `!hasPython`, `runner === undefined`: conditions that name what is missing. */
function isNamed(condition: ESTree.Node | undefined): boolean {
  if (condition?.type === 'UnaryExpression') return isNamed(condition.argument);
  if (condition?.type === 'BinaryExpression') return isNamed(condition.left) && isNamed(condition.right);
  return condition?.type === 'Identifier';
}

/**
 * A skipped test proves nothing. One that needs a special host gives a reason: `context.skip('why')`, or `skipIf` and
 * `runIf` with a descriptive condition, or a comment beside them.
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
      const names = listCallNames(node.callee);
      const last = names.at(-1) ?? '';
      const ofRunner = RUNNERS.has(names[0] ?? '') && node.callee.type === 'MemberExpression';
      if (ofRunner && names.includes('only')) {
        found.push(`${formatLocation(source, node)} runs only this test: remove .only.`);
      } else if (ofRunner && ['skip', 'todo', 'fails'].some((name) => names.includes(name))) {
        found.push(
          `${formatLocation(source, node)} never runs: make it pass, delete it, or skip inside it with a reason.`,
        );
      } else if (
        ofRunner &&
        (last === 'skipIf' || last === 'runIf') &&
        !isNamed(node.arguments[0]) &&
        !commented.has(lineNumberAt(source, node.start))
      ) {
        found.push(
          `${formatLocation(source, node)} runs on some hosts only: explain it in a comment beside it.`,
        );
      } else if (!ofRunner && last === 'skip' && !node.arguments.some((one) => literalText(one))) {
        found.push(`${formatLocation(source, node)} skips without a reason: give the reason as a string.`);
      }
    },
  }).visit(program);
  return found;
}

/** Vitest names a test by its file and its titles, so the titles within a file must be unique. */
export function findRepeatedTitles(source: Source): string[] {
  const found: string[] = [];
  const seen = new Map<string, number>();
  const groups: string[] = [];
  const readTitle = (node: ESTree.CallExpression) => {
    const [first] = node.arguments;
    return node.arguments.length > 1 && first ? literalText(first) : undefined;
  };
  const isGroup = (node: ESTree.CallExpression) =>
    ['describe', 'suite'].includes(listCallNames(node.callee)[0] ?? '');
  new Visitor({
    CallExpression(node) {
      const title = readTitle(node);
      if (title === undefined) return;
      if (isGroup(node)) groups.push(title);
      else if (['test', 'it'].includes(listCallNames(node.callee)[0] ?? '')) {
        const full = [...groups, title].join(' › ');
        const first = seen.get(full);
        if (first === undefined) seen.set(full, lineNumberAt(source, node.start));
        else
          found.push(
            `${formatLocation(source, node)} is called "${full}" like the test in line ${first}: name the difference.`,
          );
      }
    },
    'CallExpression:exit'(node) {
      if (isGroup(node) && readTitle(node) !== undefined) groups.pop();
    },
  }).visit(parseSource(source).program);
  return found;
}

/**
 * A sleep is a promise that a timer fulfils. A timer that rejects is a deadline, and is allowed: it fires only when the
 * expected signal does not come.
 */
export function findSleeps(source: Source): string[] {
  const found: string[] = [];
  const resolvers: string[] = [];
  let timers = 0;
  const report = (node: { start: number }) => {
    found.push(
      `${formatLocation(source, node)} sleeps: wait for the signal or event itself, or move the injected clock.`,
    );
  };
  const isTimer = (node: ESTree.CallExpression) => listCallNames(node.callee).at(-1) === 'setTimeout';
  const findResolver = (node: ESTree.NewExpression) => {
    const [executor] = node.arguments;
    if (node.callee.type !== 'Identifier' || node.callee.name !== 'Promise') return undefined;
    if (executor?.type !== 'ArrowFunctionExpression' && executor?.type !== 'FunctionExpression')
      return undefined;
    const [first] = executor.params;
    return first?.type === 'Identifier' ? first.name : undefined;
  };
  new Visitor({
    ImportDeclaration(node) {
      if (/^(node:)?timers\/promises$/.test(node.source.value)) report(node);
    },
    NewExpression(node) {
      const resolver = findResolver(node);
      if (resolver !== undefined) resolvers.push(resolver);
    },
    'NewExpression:exit'(node) {
      if (findResolver(node) !== undefined) resolvers.pop();
    },
    // A wait whose result is read is one for a signal, and its time only ends what hangs.
    ExpressionStatement({ expression }) {
      if (
        expression.type === 'CallExpression' &&
        listCallNames(expression.callee).join('.') === 'Atomics.wait'
      )
        report(expression);
    },
    CallExpression(node) {
      const [first] = node.arguments;
      const called = listCallNames(node.callee);
      if (called.at(-1) === 'promisify' && first?.type === 'Identifier' && first.name === 'setTimeout')
        report(node);
      if (timers > 0 && called.length === 1 && resolvers.includes(called[0] ?? '')) report(node);
      if (!isTimer(node)) return;
      timers += 1;
      if (first?.type === 'Identifier' && resolvers.includes(first.name)) report(node);
    },
    'CallExpression:exit'(node) {
      if (isTimer(node)) timers -= 1;
    },
  }).visit(parseSource(source).program);
  return found;
}
