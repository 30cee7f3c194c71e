/**
 * The law of module state: changing values belong to an object that `main.ts` creates, so that two servers share
 * nothing.
 */
import { type ESTree, Visitor } from 'rolldown/utils';
import { isCode, isTesting, type Source } from '../source-files.ts';
import { parseSource } from '../syntax.ts';
import { type Law, type Violation, violationAt } from '../violation.ts';

const STATEFUL_PACKAGES = ['server', 'runner'];

const COLLECTIONS = /^(Map|Set|WeakMap|WeakSet|Array)$/;
const MUTATING_METHODS =
  /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|getOrInsert|getOrInsertComputed)$/;
/** Classes whose instances are mutable by design. */
const HOLDERS = /^(AsyncLocalStorage|EventEmitter|AbortController|LRUCache|PQueue|TTLCache)$/;

function calledName(node: ESTree.Expression | null): string | undefined {
  return node?.type === 'NewExpression' && node.callee.type === 'Identifier' ? node.callee.name : undefined;
}

/** Returns the top-level declarations of the module, exported or not. */
function listModuleVariables(source: Source): ESTree.VariableDeclaration[] {
  return parseSource(source).program.body.flatMap((statement) => {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    return declaration?.type === 'VariableDeclaration' ? [declaration] : [];
  });
}

/** Returns the names whose contents the source changes, by a method or by an assignment to a member. */
function listMutatedNames(source: Source): Set<string> {
  const names = new Set<string>();
  const addOwner = (node: ESTree.Node) => {
    if (node.type === 'MemberExpression' && node.object.type === 'Identifier') names.add(node.object.name);
  };
  new Visitor({
    CallExpression({ callee }) {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      if (MUTATING_METHODS.test(callee.property.name)) addOwner(callee);
    },
    AssignmentExpression: ({ left }) => addOwner(left),
    UpdateExpression: ({ argument }) => addOwner(argument),
    UnaryExpression({ operator, argument }) {
      if (operator === 'delete') addOwner(argument);
    },
  }).visit(parseSource(source).program);
  return names;
}

function isMutable(declarator: ESTree.VariableDeclarator, mutated: ReadonlySet<string>): boolean {
  const { id, init } = declarator;
  const made = calledName(init);
  if (made !== undefined && HOLDERS.test(made)) return true;
  const isCollection =
    init?.type === 'ArrayExpression' || init?.type === 'ObjectExpression' || COLLECTIONS.test(made ?? '');
  return isCollection && id.type === 'Identifier' && mutated.has(id.name);
}

function findModuleState(source: Source): Violation[] {
  const mutated = listMutatedNames(source);
  return listModuleVariables(source).flatMap((declaration) =>
    declaration.declarations
      .filter((declarator) => declaration.kind === 'let' || isMutable(declarator, mutated))
      .map((declarator) => {
        const name = source.text.slice(declarator.id.start, declarator.id.end);
        return violationAt(
          source,
          declarator,
          `keeps ${name} in the module: store it in an object made by main.ts.`,
        );
      }),
  );
}

/** No module of the server and the runner has a mutable value. */
export const moduleState: Law = {
  name: 'module-state',
  findViolations: (sources) =>
    sources
      .filter((source) => isCode(source) && !isTesting(source.path))
      .filter(({ path }) => STATEFUL_PACKAGES.some((folder) => path.startsWith(`${folder}/`)))
      .flatMap(findModuleState),
};
