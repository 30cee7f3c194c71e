/** Laws about imports: between packages, inside the server, of declared packages only, and no cycles. */
import { type Packages, packageFolder, resolveImport } from './packages.ts';
import { isTesting, type Source } from './source-files.ts';
import { listImports } from './syntax.ts';

/**
 * The folder with the code that a package runs only at its build, `build` where none is named. The reference of the command
 * line is written from the commands themselves, so that it cannot differ from them.
 */
const BUILD_FOLDERS: Record<string, string> = { site: 'generator' };

/** The workspace packages that each package may import, and those that only its tests or the code of its build may import. */
const ALLOWED_IMPORTS: Record<
  string,
  { always: readonly string[]; tests: readonly string[]; builds?: readonly string[] }
> = {
  contract: { always: [], tests: [] },
  runner: { always: ['contract'], tests: [] },
  'solver-logs': { always: [], tests: [] },
  worker: { always: ['contract', 'runner', 'solver-logs'], tests: ['server'] },
  server: { always: ['contract', 'runner', 'worker'], tests: [] },
  design: { always: [], tests: [] },
  'static-build': { always: [], tests: [] },
  'browser-testing': { always: [], tests: [] },
  explorer: { always: [], tests: ['contract'] },
  site: {
    always: ['contract', 'design', 'static-build', 'explorer'],
    tests: ['server', 'browser-testing'],
    builds: ['cli'],
  },
  console: {
    always: ['contract', 'design', 'static-build', 'explorer', 'solver-logs'],
    tests: ['server', 'cli', 'browser-testing'],
    builds: ['cli'],
  },
  cli: { always: ['contract', 'runner', 'solver-logs', 'static-build', 'worker'], tests: ['server', 'site'] },
};
/** Folders that check the whole repository, or stand outside all packages. */
const UNORDERED_FOLDERS = new Set([
  ...['', 'checks', 'scripts', 'bench', 'chaos', 'simulation', 'conformance', 'studies'],
]);

/** The simulation replaces the time of its process when it is loaded, so nothing else loads it. */
function findSimulationImports(source: Source, packages: Packages): string[] {
  return listImports(source)
    .filter(({ specifier }) => {
      const target = resolveImport(source.path, specifier, packages);
      return target.kind === 'own' && target.folder === 'simulation';
    })
    .map(
      ({ specifier, line }) =>
        `${source.path}:${line} imports ${specifier}: only the simulation imports itself.`,
    );
}

/** Returns imports against the order of the packages, and relative imports across packages. */
export function checkPackageOrder(sources: readonly Source[], packages: Packages): string[] {
  return sources.flatMap((source) => {
    const from = packageFolder(source.path);
    const simulated = from === 'simulation' ? [] : findSimulationImports(source, packages);
    if (simulated.length > 0) return simulated;
    if (UNORDERED_FOLDERS.has(from)) return [];
    const rule = ALLOWED_IMPORTS[from] ?? { always: [], tests: [] };
    const isBuilding = source.path.startsWith(`${from}/${BUILD_FOLDERS[from] ?? 'build'}/`);
    const allowed = [
      ...rule.always,
      ...(isTesting(source.path) ? rule.tests : []),
      ...(isBuilding ? (rule.builds ?? []) : []),
    ];
    return listImports(source).flatMap(({ specifier, line }) => {
      const target = resolveImport(source.path, specifier, packages);
      if (target.kind !== 'own' || target.folder === from) return [];
      const place = `${source.path}:${line}`;
      if (!allowed.includes(target.folder)) {
        const may = allowed.length === 0 ? 'no workspace package' : allowed.join(' and ');
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

/**
 * The import order of the server: its six rooms, and the files that join them. A part imports only from itself and from
 * parts before it; `structure/folder-order.ts` has the order within each room.
 */
const SERVER_ORDER = [
  ...['platform', 'accounts', 'apps', 'runs', 'experiments', 'ops'],
  ...['tables', 'context', 'background-jobs', 'services', 'handlers', 'main', 'process', 'testing'],
];

function findServerPart(path: string): string | undefined {
  return /^server\/([^/]+?)(\.test)?(\/|\.tsx?$)/.exec(path)?.[1];
}

/** Returns imports against the order of the server's parts. Tests beside the code may also import `testing`, which starts the server under test. */
export function checkServerOrder(sources: readonly Source[], packages: Packages): string[] {
  return sources.flatMap((source) => {
    const part = findServerPart(source.path);
    if (part === undefined) return [];
    const place = SERVER_ORDER.indexOf(part);
    if (place < 0) {
      return [
        `server/${part} has no place in the import order: add it to SERVER_ORDER in checks/import-laws.ts, or move ${source.path}.`,
      ];
    }
    return listImports(source).flatMap(({ specifier, line }) => {
      const target = resolveImport(source.path, specifier, packages);
      const other = target.kind === 'own' && target.path ? findServerPart(target.path) : undefined;
      if (other === undefined || SERVER_ORDER.indexOf(other) <= place) return [];
      if (other === 'testing' && isTesting(source.path)) return [];
      return [
        `${source.path}:${line} imports server/${other}, which stands after server/${part}: pass the data as an argument, or move the shared code to an earlier part.`,
      ];
    });
  });
}

/** Returns imports of undeclared packages. npm also hoists packages of others; only a declared package is certain to exist, in this version. */
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

/** Returns a shortest cycle through `start`, or undefined. */
function findCycleThrough(graph: Graph, start: string): string[] | undefined {
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

/** Returns cycles of the graph. Every node on a cycle is on one of them, or shares one with a node on them. */
function findCycles(graph: Graph): string[][] {
  const seen = new Set<string>();
  return [...graph.keys()].sort().flatMap((start) => {
    if (seen.has(start)) return [];
    const cycle = findCycleThrough(graph, start);
    for (const node of cycle ?? []) seen.add(node);
    return cycle ? [cycle] : [];
  });
}

/** Returns the edge between the two siblings that contain the importing files: files of one folder, or folders. */
function findSiblings(from: string, to: string): [string, string] {
  const a = from.split('/');
  const b = to.split('/');
  let depth = 0;
  while (depth < a.length - 1 && depth < b.length - 1 && a[depth] === b[depth]) depth += 1;
  return [a.slice(0, depth + 1).join('/'), b.slice(0, depth + 1).join('/')];
}

/**
 * Files must not load one another in a circle. Folders must not depend on one another in a circle, types included.
 * Tests are exempt: they stand beside the code under test and import its start.
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
      const [from, to] = findSiblings(source.path, target.path);
      if (from !== to && !(known.has(from) && known.has(to))) addEdge(folders, from, to);
    }
  }
  const formatCycle = (cycle: string[]) => [...cycle, cycle[0]].join(' → ');
  return [
    ...findCycles(files).map(
      (cycle) =>
        `Files import one another in a circle; move the shared code to another file: ${formatCycle(cycle)}.`,
    ),
    ...findCycles(folders).map(
      (cycle) =>
        `Folders import one another in a circle; move what they share before them: ${formatCycle(cycle)}.`,
    ),
  ];
}

/**
 * A thread that does not load the library of schemas or of the log by accident starts at once instead of in half a
 * second. A thread that needs a library imports it directly.
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
              `${thread.path} loads ${target.name} by ${path}:${line}: move what the thread needs into a file without that import.`,
            );
          if (target.kind === 'own' && target.path !== undefined) seen.add(target.path);
        }
      }
      return found;
    });
}
