/** Sizes of the tree that only fall: `npm run laws -- sizes` prints each with its ceiling in `checks/baselines/sizes.json`. */
import type { Baseline } from './baselines.ts';
import { collectPackages, packageFolder, resolveImport } from './packages.ts';
import { isCode, isTesting, type Source } from './source-files.ts';
import { jsonParse } from './structure/json-parse.ts';
import { listImports, parseSource } from './syntax.ts';

/** A repair may add lines: the ceiling of a package is a whole number of these. */
const LINES_STEP = 500;

const PRODUCT = new Set([
  ...['cli', 'console', 'contract', 'design', 'explorer', 'runner'],
  ...['server', 'site', 'solver-logs', 'static-build', 'worker'],
]);
const EXPERIMENT_TYPES = ['acceptance', 'batch', 'bisect', 'scenario', 'shadow', 'switchback'];

/** Returns true for a file that names an experiment type, and stands in no folder of that name. */
function namesForeignType({ path, text }: Source): boolean {
  return EXPERIMENT_TYPES.some((type) => text.includes(`'${type}'`) && !path.split('/').includes(type));
}

function listExportedFunctions(source: Source): string[] {
  return parseSource(source).program.body.flatMap((statement) => {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null;
    if (declaration?.type === 'FunctionDeclaration') return declaration.id?.name ?? [];
    if (declaration?.type !== 'VariableDeclaration') return [];
    return declaration.declarations.flatMap(({ id, init }) =>
      init?.type === 'ArrowFunctionExpression' && id.type === 'Identifier' ? id.name : [],
    );
  });
}

/** Counts the exported functions that exactly one other file of the product imports. */
function countOneImporter(product: readonly Source[], sources: readonly Source[]): number {
  const packages = collectPackages(sources);
  const importers = new Map<string, Set<string>>();
  for (const source of product)
    for (const { specifier, names } of listImports(source)) {
      const target = resolveImport(source.path, specifier, packages);
      if (target.kind !== 'own' || target.path === undefined) continue;
      for (const name of names) {
        const key = `${target.path} ${name}`;
        importers.set(key, (importers.get(key) ?? new Set()).add(source.path));
      }
    }
  return product.reduce((sum, source) => {
    const all = importers.get(`${source.path} *`) ?? new Set();
    const isOne = (name: string) =>
      all.union(importers.get(`${source.path} ${name}`) ?? new Set()).size === 1;
    return sum + listExportedFunctions(source).filter(isOne).length;
  }, 0);
}

/** Counts the folders whose only source is one file, without sub-folders. */
function countLonelyFiles(product: readonly Source[]): number {
  const files = Map.groupBy(product, ({ path }) => path.slice(0, path.lastIndexOf('/')));
  const folders = [...files.keys()];
  return [...files].filter(
    ([folder, sources]) => sources.length === 1 && !folders.some((other) => other.startsWith(`${folder}/`)),
  ).length;
}

/** Returns each size of the tree by its name. Tests, tools and generated files do not count. */
export function measureSizes(sources: readonly Source[]): Baseline {
  const product = sources.filter(
    (source) => isCode(source) && !isTesting(source.path) && PRODUCT.has(packageFolder(source.path)),
  );
  const sizes: Baseline = {};
  for (const { path, text } of product) {
    const key = `lines of ${packageFolder(path)}`;
    sizes[key] = (sizes[key] ?? 0) + text.split('\n').length - 1;
  }
  const hasForeignTable = ({ path, text }: Source) =>
    /<table[\s>]/.test(text) && !path.startsWith('console/ui/data-table');
  return {
    ...sizes,
    'files that name an experiment type outside its folder': product.filter(namesForeignType).length,
    'files with <table> outside console/ui/data-table': product.filter(hasForeignTable).length,
    'exported functions with one importer': countOneImporter(product, sources),
    'folders with one file of source': countLonelyFiles(product),
    'JSON.parse without a schema': jsonParse.findViolations(sources).length,
  };
}

/** Returns the ceiling of a size. */
export function computeCeiling(name: string, size: number): number {
  return name.startsWith('lines of ') ? Math.ceil(size / LINES_STEP) * LINES_STEP : size;
}
