/** Laws of the server: one file reads the environment, one folder imports the database libraries and locks rows. */
import { Visitor } from 'rolldown/utils';
import { isTesting, type Source } from './source-files.ts';
import { formatLocation, listImports, literalText, parseSource } from './syntax.ts';

/** Returns the product sources of the server, except those whose path below `server/` begins with `except`. */
export function listServerSources(sources: readonly Source[], except: string): Source[] {
  return sources.filter(
    ({ path }) => path.startsWith('server/') && !path.startsWith(`server/${except}`) && !isTesting(path),
  );
}

/** Tests may read it, because they pass the environment on to the processes that they start. */
export function findEnvironmentReads(sources: readonly Source[]): string[] {
  return listServerSources(sources, 'platform/config.ts').flatMap((source) => {
    const found: string[] = [];
    const report = (node: { start: number }) => {
      found.push(
        `${formatLocation(source, node)} reads the environment: read it in server/platform/config.ts and pass the value down.`,
      );
    };
    new Visitor({
      MemberExpression(node) {
        const { object, property } = node;
        const name = property.type === 'Identifier' ? property.name : undefined;
        if (object.type === 'Identifier' && object.name === 'process' && name === 'env') report(node);
      },
      VariableDeclarator(node) {
        const { id, init } = node;
        if (id.type !== 'ObjectPattern' || init?.type !== 'Identifier' || init.name !== 'process') return;
        for (const property of id.properties) {
          if (
            property.type === 'Property' &&
            property.key.type === 'Identifier' &&
            property.key.name === 'env'
          )
            report(node);
        }
      },
      ImportDeclaration(node) {
        if (node.source.value !== 'node:process') return;
        for (const one of node.specifiers) {
          if (
            one.type === 'ImportSpecifier' &&
            one.imported.type === 'Identifier' &&
            one.imported.name === 'env'
          )
            report(node);
        }
      },
    }).visit(parseSource(source).program);
    return found;
  });
}

const DRIVERS = new Set(['pg', 'node:sqlite', 'better-sqlite3']);
const KYSELY_INSIDES = /(Dialect|Driver|Adapter|Introspector|QueryCompiler)$/;

/** Other folders use Kysely's builder and `sql`; only platform/database/ knows which database runs. Tests may know it. */
export function findDatabaseDrivers(sources: readonly Source[]): string[] {
  return listServerSources(sources, 'platform/database/').flatMap((source) =>
    listImports(source).flatMap(({ specifier, names, line }) => {
      const inside = specifier === 'kysely' ? names.find((name) => KYSELY_INSIDES.test(name)) : undefined;
      if (!DRIVERS.has(specifier) && inside === undefined) return [];
      return [
        `${source.path}:${line} imports ${inside ?? specifier}: only server/platform/database/ may import it; add the missing function there.`,
      ];
    }),
  );
}

const LOCKING_METHODS = /^(forUpdate|forNoKeyUpdate|forShare|forKeyShare|skipLocked|noWait)$/;
const LOCKING_SQL =
  /\bfor\s+(no\s+key\s+)?update\b|\bfor\s+(key\s+)?share\b|\bskip\s+locked\b|\block\s+table\b/i;

/**
 * `locked` in server/platform/database/row-locks.ts locks rows, and knows whether the database has locks. Other code can forget
 * a conditional lock, and no test on SQLite notices.
 */
export function findRowLocks(sources: readonly Source[]): string[] {
  return listServerSources(sources, 'platform/database/').flatMap((source) => {
    const found: string[] = [];
    const report = (node: { start: number }, what: string) => {
      found.push(
        `${formatLocation(source, node)} uses ${what}: lock rows with locked() of server/platform/database/row-locks.ts.`,
      );
    };
    new Visitor({
      MemberExpression({ property }) {
        const name = property.type === 'Identifier' ? property.name : literalText(property);
        if (name !== undefined && LOCKING_METHODS.test(name)) report(property, name);
      },
      Identifier(node) {
        if (node.name === 'skipsLocked') report(node, node.name);
      },
      TaggedTemplateExpression({ tag, quasi }) {
        const [clause] = LOCKING_SQL.exec(literalText(quasi) ?? '') ?? [];
        if (tag.type === 'Identifier' && tag.name === 'sql' && clause !== undefined)
          report(quasi, clause.replace(/\s+/g, ' '));
      },
    }).visit(parseSource(source).program);
    return found;
  });
}

const TELEMETRY_FILE = 'server/platform/tracing/otlp-tracing.ts';

/**
 * Returns static imports and re-exports of the libraries of OpenTelemetry, and of the file that imports them. They take time to load, and a
 * process without an exporter does without them.
 */
export function findTelemetryImports(sources: readonly Source[]): string[] {
  return listServerSources(sources, 'platform/tracing/otlp-tracing.ts').flatMap((source) => {
    const found: string[] = [];
    const check = (node: { start: number; source: { value: string } | null }) => {
      const value = node.source?.value ?? '';
      if (value.startsWith('@opentelemetry/') || value.endsWith('/otlp-tracing.ts'))
        found.push(
          `${formatLocation(source, node)} imports ${value}: only ${TELEMETRY_FILE} imports the libraries of OpenTelemetry, and it is loaded by import() alone.`,
        );
    };
    new Visitor({
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    }).visit(parseSource(source).program);
    return found;
  });
}

/** The files that own the time, timers and randomness of the server, and those that no simulated server loads or waits for. */
const TIME_OWNERS = [
  ...['platform/clock.ts', 'platform/random.ts'],
  // Sockets: the simulation hands requests to the router.
  ...['platform/http/transport/', 'platform/http/listen.ts', 'platform/tls/'],
  ...['accepts', 'fair-request-queue', 'handshake-queue', 'request-memory'].map(
    (name) => `platform/http/limits/${name}.ts`,
  ),
  // Other processes and services.
  ...['platform/database/postgres/', 'platform/blobs/s3', 'accounts/sso/identity-provider.ts'],
  ...['experiments/results/results-worker-pool.ts', 'ops/backup/restore.ts'],
].map((path) => `server/${path}`);

const CLOCK_CALLS: readonly [object: string, name: string][] = [
  ['Date', 'now'],
  ['performance', 'now'],
  ['Math', 'random'],
];
const CLOCK_FUNCTIONS = new Set(['setTimeout', 'setInterval', 'randomBytes', 'randomUUID', 'randomInt']);

/** Elsewhere the clock and the randomness of the services are used: a simulation replaces them, and a test moves them. */
export function findDirectTime(sources: readonly Source[]): string[] {
  return listServerSources(sources, 'testing/').flatMap((source) => {
    if (TIME_OWNERS.some((owner) => source.path.startsWith(owner))) return [];
    const found: string[] = [];
    const report = (node: { start: number }, what: string) =>
      found.push(
        `${formatLocation(source, node)} uses ${what}: take Clock or Random of server/platform from the caller.`,
      );
    new Visitor({
      CallExpression({ callee, start }) {
        if (callee.type === 'Identifier' && CLOCK_FUNCTIONS.has(callee.name)) report({ start }, callee.name);
        if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return;
        const { object, property } = callee;
        const name = property.type === 'Identifier' ? property.name : '';
        if (CLOCK_CALLS.some(([owner, method]) => owner === object.name && method === name))
          report({ start }, `${object.name}.${name}`);
      },
      NewExpression({ callee, arguments: passed, start }) {
        if (callee.type === 'Identifier' && callee.name === 'Date' && passed.length === 0)
          report({ start }, 'new Date()');
      },
    }).visit(parseSource(source).program);
    return found;
  });
}
