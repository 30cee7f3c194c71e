/** Laws about imports: between packages, inside the server, of declared packages only, and no cycles. */
import { type Packages, packageFolder, resolveImport } from './packages.ts';
import { isTesting, type Source } from './source-files.ts';
import { listImports } from './syntax.ts';

/** The packages of ours that each package may import, and those that only its tests may import. */
const MAY_IMPORT: Record<string, { always: readonly string[]; tests: readonly string[] }> = {
  contract: { always: [], tests: [] },
  runner: { always: ['contract'], tests: [] },
  server: { always: ['contract', 'runner'], tests: [] },
  explorer: { always: [], tests: ['contract'] },
  site: { always: ['contract', 'explorer'], tests: ['server'] },
  console: { always: ['contract', 'explorer'], tests: ['server'] },
  cli: { always: ['contract', 'runner'], tests: ['server', 'site'] },
};
/** They look at the whole repository, or stand outside all packages. */
const FREE = new Set(['', 'checks', 'scripts', 'bench', 'chaos', 'conformance']);

export function checkPackageOrder(sources: readonly Source[], packages: Packages): string[] {
  return sources.flatMap((source) => {
    const from = packageFolder(source.path);
    if (FREE.has(from)) return [];
    const rule = MAY_IMPORT[from] ?? { always: [], tests: [] };
    const allowed = [...rule.always, ...(isTesting(source.path) ? rule.tests : [])];
    return listImports(source).flatMap(({ specifier, line }) => {
      const target = resolveImport(source.path, specifier, packages);
      if (target.kind !== 'own' || target.folder === from) return [];
      const place = `${source.path}:${line}`;
      if (!allowed.includes(target.folder)) {
        const may = allowed.length === 0 ? 'nothing of ours' : allowed.join(' and ');
        return [
          `${place} imports ${specifier}, but ${from} may import ${may}: move what both need to an earlier package.`,
        ];
      }
      if (target.relative) {
        return [
          `${place} reaches into ${target.folder} by a relative path: import it by the name of its package.`,
        ];
      }
      return [];
    });
  });
}

/** The story of the server, read downward: a part imports only from itself and from parts before it. */
const SERVER_ORDER = [
  ...['clock', 'random', 'log', 'config', 'database', 'blobs', 'jobs', 'http', 'audit'],
  ...['account', 'uploads', 'applications', 'versions', 'instances', 'secrets', 'workers', 'runs'],
  ...[
    'inputs',
    'input-sets',
    'ensembles',
    'experiments',
    'webhooks',
    'search',
    'site',
    'health',
    'clean-up',
    'migrations',
    'installation',
    'backup',
  ],
  ...['background-jobs', 'main', 'process', 'testing'],
];

function serverPart(path: string): string | undefined {
  return /^server\/([^/]+?)(\.test)?(\/|\.tsx?$)/.exec(path)?.[1];
}

/** Tests beside the code may also import `testing`, which starts the server they drive. */
export function checkServerOrder(sources: readonly Source[], packages: Packages): string[] {
  return sources.flatMap((source) => {
    const part = serverPart(source.path);
    if (part === undefined) return [];
    const place = SERVER_ORDER.indexOf(part);
    if (place < 0) {
      return [
        `server/${part} has no place in the import order: add it to SERVER_ORDER in checks/import-laws.ts, or move ${source.path}.`,
      ];
    }
    return listImports(source).flatMap(({ specifier, line }) => {
      const target = resolveImport(source.path, specifier, packages);
      const other = target.kind === 'own' && target.path ? serverPart(target.path) : undefined;
      if (other === undefined || SERVER_ORDER.indexOf(other) <= place) return [];
      if (other === 'testing' && isTesting(source.path)) return [];
      return [
        `${source.path}:${line} imports server/${other}, which stands after server/${part}: let data carry it, or move what is shared to an earlier part.`,
      ];
    });
  });
}

/** npm puts packages where others find them too; only what a package declares is sure to be there, in this version. */
export function checkDeclaredImports(sources: readonly Source[], packages: Packages): string[] {
  const root = packages.get('');
  return sources.flatMap((source) => {
    const folder = packageFolder(source.path);
    const own = packages.get(folder) ?? root;
    return listImports(source).flatMap(({ specifier, kind, line }) => {
      const target = resolveImport(source.path, specifier, packages);
      const name =
        target.kind === 'own' && target.folder !== folder
          ? packages.get(target.folder)?.name
          : target.kind === 'foreign'
            ? target.name
            : undefined;
      if (name === undefined || target.kind === 'node') return [];
      const types = kind === 'type' ? `@types/${name.replace('@', '').replace('/', '__')}` : name;
      const running = { ...own?.dependencies, ...own?.optionalDependencies, ...own?.peerDependencies };
      if (name in running) return [];
      const unshipped = { ...own?.devDependencies, ...root?.devDependencies };
      const ships = folder !== '' && folder !== 'checks' && !isTesting(source.path) && kind !== 'type';
      if (!ships && (name in unshipped || types in unshipped)) return [];
      return [
        `${source.path}:${line} imports ${name}, which ${folder || 'the root'} does not declare: add it to the ${ships ? 'dependencies' : 'devDependencies'} of its package.json.`,
      ];
    });
  });
}

type Graph = Map<string, Set<string>>;

function addEdge(graph: Graph, from: string, to: string): void {
  graph.set(from, (graph.get(from) ?? new Set()).add(to));
}

/** A shortest cycle through `start`, or nothing. */
function cycleThrough(graph: Graph, start: string): string[] | undefined {
  const before = new Map<string, string>();
  const open = [start];
  for (let node = open.shift(); node !== undefined; node = open.shift()) {
    for (const next of graph.get(node) ?? []) {
      if (next === start) {
        const cycle = [node];
        for (let step = before.get(node); step !== undefined; step = before.get(step)) cycle.unshift(step);
        return cycle;
      }
      if (!before.has(next)) {
        before.set(next, node);
        open.push(next);
      }
    }
  }
  return undefined;
}

/** Cycles of the graph, so that every node on a cycle is on one of them or shares one with a node that is. */
function cycles(graph: Graph): string[][] {
  const seen = new Set<string>();
  return [...graph.keys()].sort().flatMap((start) => {
    if (seen.has(start)) return [];
    const cycle = cycleThrough(graph, start);
    for (const node of cycle ?? []) seen.add(node);
    return cycle ? [cycle] : [];
  });
}

/** The edge between the two siblings under which files lie that import one another: files of one folder, or folders. */
function siblings(from: string, to: string): [string, string] {
  const a = from.split('/');
  const b = to.split('/');
  let depth = 0;
  while (depth < a.length - 1 && depth < b.length - 1 && a[depth] === b[depth]) depth += 1;
  return [a.slice(0, depth + 1).join('/'), b.slice(0, depth + 1).join('/')];
}

/**
 * Files must not load one another in a circle, and folders must not need one another at all, types included. Tests are
 * left out: they stand beside what they drive and reach for what starts it.
 */
export function findImportCycles(sources: readonly Source[], packages: Packages): string[] {
  const files: Graph = new Map();
  const folders: Graph = new Map();
  const known = new Set(sources.map(({ path }) => path));
  for (const source of sources) {
    if (isTesting(source.path)) continue;
    for (const { specifier, kind } of listImports(source)) {
      const target = resolveImport(source.path, specifier, packages);
      if (kind === 'url' || target.kind !== 'own' || target.path === undefined || !known.has(target.path))
        continue;
      if (kind === 'runtime') addEdge(files, source.path, target.path);
      const [from, to] = siblings(source.path, target.path);
      if (from !== to && !(known.has(from) && known.has(to))) addEdge(folders, from, to);
    }
  }
  const told = (cycle: string[]) => [...cycle, cycle[0]].join(' → ');
  return [
    ...cycles(files).map(
      (cycle) => `Files import one another in a circle; take out what they share: ${told(cycle)}.`,
    ),
    ...cycles(folders).map(
      (cycle) => `Folders import one another in a circle; move what they share before them: ${told(cycle)}.`,
    ),
  ];
}

/**
 * A thread that happens to load the library of shapes or of the log starts in half a second instead of at once. A library
 * that it is there for it names itself.
 */
export function checkThreadImports(sources: readonly Source[], packages: Packages): string[] {
  const known = new Map(sources.map((source) => [source.path, source]));
  return sources
    .filter(({ path }) => path.endsWith('-thread.ts') && !isTesting(path))
    .flatMap((thread) => {
      const found: string[] = [];
      const seen = new Set([thread.path]);
      for (const path of seen) {
        const source = known.get(path);
        for (const { specifier, kind, line } of source ? listImports(source) : []) {
          const target = resolveImport(path, specifier, packages);
          if (kind !== 'runtime' || target.kind === 'node') continue;
          if (target.kind === 'foreign' && path !== thread.path)
            found.push(
              `${thread.path} loads ${target.name} by ${path}:${line}: take out what the thread needs of that file.`,
            );
          if (target.kind === 'own' && target.path !== undefined) seen.add(target.path);
        }
      }
      return found;
    });
}
