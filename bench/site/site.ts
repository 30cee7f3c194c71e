/**
 * `npm run bench -- site`: compares this site with the same pages built by Docusaurus and by Starlight: load times and
 * transferred bytes. The product's server serves the folder of every builder. The loads alternate, so that other load
 * on the machine affects all equally. Flags: `--quick` measures fewer pages less often; `--ours` omits the others;
 * `--loads` of each page; `--built` is a folder with this site, which is then not built.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { hasBrowser, launchBrowser } from '@switchyard/browser-testing/browser.ts';
import type { Browser } from 'playwright-core';
import { type BuiltSite, buildPeer, buildSwitchyard, formatVersions, PEER_BUILDERS } from './builders.ts';
import { type MeasuredServer, serveMeasured } from './counting-server.ts';
import { CPU_SLOWDOWN, measurePageLoad, type PageLoad, SLOW_4G } from './page-load.ts';
import { measureUsage } from './page-use.ts';
import { readContent } from './peer-content.ts';

const PAGES = {
  home: '/',
  'a short page': '/docs/releases/archive',
  'a long guide': '/docs/get-started/quickstarts/custom-app',
  'a heavy page of the API': '/docs/using-switchyard/reference/api/run-results',
  'a feature of the routing app': '/docs/use-cases/vehicle-routing/time-windows',
  'the latest release': '/docs/releases/latest',
};
const QUICK_PAGES = ['a long guide'];

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    ours: { type: 'boolean', default: false },
    loads: { type: 'string' },
    built: { type: 'string' },
  },
});

type Subject = BuiltSite & { server: MeasuredServer };
type Row = { page: string; subject: string; loads: PageLoad[]; use: number | undefined };

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function computeMedian(loads: readonly PageLoad[], key: keyof PageLoad): number {
  const sorted = loads.map((load) => load[key]).sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Omits a builder that fails, and prints the reason. */
async function buildAll(): Promise<BuiltSite[]> {
  const built = [
    flags.built === undefined
      ? await buildSwitchyard()
      : { name: 'Switchyard', folder: flags.built, buildSeconds: undefined },
  ];
  if (flags.ours) return built;
  const content = await readContent();
  for (const builder of PEER_BUILDERS) {
    try {
      built.push(await buildPeer(builder, content));
      print(`Built ${builder.name} (${formatVersions(builder)}).`);
    } catch (error) {
      print(`OMITTED: ${builder.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return built;
}

async function measurePage(
  browser: Browser,
  subjects: readonly Subject[],
  [page, route]: [string, string],
  times: number,
): Promise<Row[]> {
  const rows = subjects.map(({ name }): Row => ({ page, subject: name, loads: [], use: undefined }));
  for (let time = 0; time < times; time += 1) {
    for (const [index, { server }] of subjects.entries())
      rows[index]?.loads.push(await measurePageLoad(browser, server, route));
  }
  for (const [index, { name, server }] of subjects.entries()) {
    const row = rows[index];
    if (row)
      row.use = await measureUsage(browser, server, name, route).catch((error: unknown) => {
        print(`${name}, ${page}: a control failed: ${String(error).split('\n')[0]}`);
        return undefined;
      });
  }
  return rows;
}

function formatTable(rows: readonly Row[]): string {
  const kB = (bytes: number | undefined): string => (bytes === undefined ? '' : (bytes / 1000).toFixed(1));
  const lines = rows.map(({ page, subject, loads, use }) => {
    const of = (key: keyof PageLoad, digits = 0): string => computeMedian(loads, key).toFixed(digits);
    const cells = [page, subject, kB(computeMedian(loads, 'bytes')), of('requests'), kB(use)];
    cells.push(of('lcpMs'), of('tbtMs'), of('longestTaskMs'), of('cls', 4));
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| page | builder | kB to show | requests | kB more in use | LCP ms | TBT ms | longest task ms | CLS |',
    '| --- | --- | --: | --: | --: | --: | --: | --: | --: |',
    ...lines,
  ].join('\n');
}

if (!hasBrowser) {
  print('SKIPPING the benchmark of the site: no Chromium is installed.');
  process.exit();
}
const times = Number(flags.loads ?? (flags.quick ? 3 : 5));
const built = await buildAll();
await using stack = new AsyncDisposableStack();
const browser = await launchBrowser();
stack.defer(() => browser.close());
const subjects: Subject[] = [];
for (const one of built) subjects.push({ ...one, server: stack.use(await serveMeasured(one.folder)) });

// The first page of a browser includes its start.
for (const { server } of subjects) await measurePageLoad(browser, server, PAGES.home);
const rows: Row[] = [];
for (const page of Object.entries(PAGES).filter(([name]) => !flags.quick || QUICK_PAGES.includes(name)))
  rows.push(...(await measurePage(browser, subjects, page, times)));

print(
  `\nChromium ${browser.version()}, ${cpus().length} cores, Node ${process.version.slice(1)}. Medians of ${times} loads with an empty cache,`,
);
print(
  `${SLOW_4G.latencyMs} ms before every answer, ${SLOW_4G.downKbps} kbit/s down, CPU slowed ${CPU_SLOWDOWN} times, 412 pixels wide.\n`,
);
print(formatTable(rows));
print('\n| builder | build from clean, s |\n| --- | --: |');
for (const { name, buildSeconds } of built)
  print(`| ${name} | ${buildSeconds?.toFixed(1) ?? 'built before'} |`);
