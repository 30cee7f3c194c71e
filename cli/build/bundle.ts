/** Bundles the command line and the parts of the runner that run as separate processes into JavaScript for Node 20. */
import { join } from 'node:path';
import { type Plugin, type RolldownOutput, rolldown } from 'rolldown';

const cli = join(import.meta.dirname, '..');
const runner = join(cli, '..', 'runner');
/** The oldest Node that runs the bundle. */
export const NODE_VERSION_MIN = '20.12';

/** The entry points by name. The code that starts a process or a thread finds its file beside itself. */
const ENTRIES = {
  switchyard: join(cli, 'main.ts'),
  launcher: join(runner, 'launcher', 'launcher.ts'),
  'read-results-thread': join(cli, '..', 'worker', 'results', 'read-results-thread.ts'),
};
/** One file without imports, because a sandbox has this file and no other. */
const FORWARDER = { 'loopback-forwarder': join(runner, 'sandbox', 'loopback-forwarder.ts') };

const importPolyfills: Plugin = {
  name: 'import-polyfills',
  transform(code, id) {
    if (!Object.values(ENTRIES).includes(id)) return null;
    return `import ${JSON.stringify(join(import.meta.dirname, 'node-20.ts'))};\n${code}`;
  },
};

interface Bundle {
  /** Text of the scripts by file name. */
  scripts: Map<string, string>;
  /** Paths of the modules in them. */
  modules: string[];
}

/** Returns the scripts of the package. Throws for an import that cannot be resolved. */
export async function bundleCommandLine(): Promise<Bundle> {
  const outputs = await Promise.all([compile(ENTRIES, [importPolyfills]), compile(FORWARDER, [])]);
  const chunks = outputs.flatMap(({ output }) => output).filter((file) => file.type === 'chunk');
  return {
    scripts: new Map(chunks.map(({ fileName, code }) => [fileName, code])),
    modules: chunks.flatMap(({ moduleIds }) => moduleIds),
  };
}

async function compile(input: Record<string, string>, plugins: Plugin[]): Promise<RolldownOutput> {
  const build = await rolldown({
    input,
    plugins,
    platform: 'node',
    transform: { target: `node${NODE_VERSION_MIN}` },
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`The bundle of the command line has a problem: ${log.message}`);
    },
  });
  try {
    // One folder: a script finds another beside itself.
    return await build.generate({
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      minify: 'dce-only',
    });
  } finally {
    await build.close();
  }
}
