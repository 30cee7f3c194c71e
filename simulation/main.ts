/**
 * The program: `npm run simulate -- --seeds 200` simulates seeds, `--seed N` replays one, and `--for 8h` runs through a
 * night. A failing seed is shrunk and printed as a test; the exit status is then 1.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Finding, findDefect, formatFindings } from './defects/find-defect.ts';
import { PLANTED_DEFECTS } from './defects/planted.ts';
import { PEER_DEFECTS } from './defects/planted-peers.ts';
import { POSTGRES_DEFECTS } from './defects/planted-postgres.ts';
import { type DatabaseKind, drawPlan, type Plan } from './load/plan.ts';
import type { SimulationReport } from './process/messages.ts';
import { SimulatorPool } from './process/pool.ts';
import { Coverage } from './report/coverage.ts';
import { formatTest, shrinkPlan } from './shrink/shrink.ts';

const HELP = `Simulates the server with its disk, workers, clients and receivers in one thread.

  --seeds N     Simulate N seeds (100 by default).
  --from N      The first seed (1 by default).
  --seed N      Simulate one seed, and print the hash of its trace.
  --trace FILE  With --seed: write everything that happened to the file.
  --plan FILE   Simulate the plan in the file, which is JSON.
  --for TIME    Simulate seeds for this time: 10m, 8h.
  --database KIND  postgres: several servers on PostgreSQL; sqlite by default: one server on its disk.
  --processes N Processes at the same time; one for each core by default.
  --defects TEXT  Plant the defects whose names have the text, and find them.
  --no-shrink   With --defects: do not shrink.
  --verbose     Print a line for each seed.
  --keep-going  Continue after a failing seed.
`;

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 };

function readTime(text: string): number {
  const [, count = '', unit = ''] = /^(\d+)([smh])$/.exec(text) ?? [];
  if (count === '') throw new Error(`--for is "${text}"; it must be a time such as 30s, 10m or 8h.`);
  return Number(count) * (UNITS[unit] ?? 0);
}

const { values } = parseArgs({
  options: {
    database: { type: 'string' },
    ...{ seeds: { type: 'string' }, from: { type: 'string' }, seed: { type: 'string' } },
    ...{ trace: { type: 'string' }, plan: { type: 'string' }, for: { type: 'string' } },
    ...{
      processes: { type: 'string' },
      'keep-going': { type: 'boolean' },
      verbose: { type: 'boolean' },
      ...{ defects: { type: 'string' }, 'no-shrink': { type: 'boolean' } },
      help: { type: 'boolean' },
    },
  },
});

const database: DatabaseKind = values.database === 'postgres' ? 'postgres' : 'sqlite';

const print = (text: string): void => void process.stdout.write(`${text}\n`);

function printReport(name: string, report: SimulationReport): void {
  const speed = Math.round(report.simulatedMs / report.processorMs);
  print(
    `${name}: trace ${report.trace}, ${report.events} events, ${Math.round(report.simulatedMs / 1000)} s simulated in ${Math.round(report.processorMs)} ms (${speed}×)`,
  );
  for (const { promise, detail } of report.violations) print(`  broken: ${promise}: ${detail}`);
}

async function replay(plan: Plan, pool: SimulatorPool): Promise<number> {
  const report = await pool.run(plan, { keepsTrace: values.trace !== undefined });
  if (values.trace !== undefined) writeFileSync(values.trace, report.lines.join(''));
  printReport(`seed ${plan.seed}`, report);
  const coverage = new Coverage(database);
  coverage.add(report);
  print(coverage.format());
  if (report.violations.length > 0) await shrink(plan, report, pool);
  return report.violations.length > 0 ? 1 : 0;
}

async function shrink(plan: Plan, report: SimulationReport, pool: SimulatorPool): Promise<void> {
  const run = (smaller: Plan): Promise<SimulationReport> => pool.run(smaller);
  const shrunk = await shrinkPlan(plan, report, { run, width: pool.size });
  print(
    `Shrunk from ${plan.steps.length} to ${shrunk.plan.steps.length} steps in ${shrunk.tries} simulations:`,
  );
  print(formatTest(shrunk.plan, report.violations[0]?.promise ?? ''));
}

async function simulateSeeds(pool: SimulatorPool): Promise<number> {
  const from = Number(values.from ?? 1);
  const endsAt =
    values.for === undefined ? Number.POSITIVE_INFINITY : performance.now() + readTime(values.for);
  const end = values.for === undefined ? from + Number(values.seeds ?? 100) : Number.POSITIVE_INFINITY;
  const coverage = new Coverage(database);
  const failures: { plan: Plan; report: SimulationReport }[] = [];
  let seed = from;
  const work = async (): Promise<void> => {
    while (seed < end && performance.now() < endsAt && (failures.length === 0 || values['keep-going'])) {
      const plan = drawPlan(String(seed), database);
      seed += 1;
      const report = await pool.run(plan).catch((error: Error): SimulationReport => failedReport(error));
      coverage.add(report);
      if (values.verbose) printReport(`seed ${plan.seed}`, report);
      if (report.violations.length === 0) continue;
      failures.push({ plan, report });
      printReport(`seed ${plan.seed}`, report);
    }
  };
  await Promise.all(Array.from({ length: pool.size }, work));
  print(coverage.format());
  if (values['keep-going'] === true) return failures.length > 0 ? 1 : 0;
  for (const { plan, report } of failures) await shrink(plan, report, pool);
  return failures.length > 0 ? 1 : 0;
}

/** A simulation that ended by an error of its own counts as a failure. */
function failedReport(error: Error): SimulationReport {
  const none = { transitions: {}, faults: {}, jobs: {}, logs: {}, answers: {} };
  const violations = [{ promise: 'the simulation ends', detail: error.message }];
  return { violations, trace: '', lines: [], events: 0, simulatedMs: 0, processorMs: 1, ...none };
}

/** Plants each defect whose name has the text, and prints how it was found. */
async function proveDefects(text: string): Promise<number> {
  const planted = database === 'postgres' ? POSTGRES_DEFECTS : [...PLANTED_DEFECTS, ...PEER_DEFECTS];
  const defects = planted.filter(({ name }) => name.includes(text));
  const settings = {
    database,
    seedsMax: Number(values.seeds ?? 200),
    triesMax: values['no-shrink'] === true ? 0 : 80,
    ...(values.processes === undefined ? {} : { processes: Number(values.processes) }),
  };
  const findings: Finding[] = [];
  for (const defect of defects) {
    const finding = await findDefect(defect, settings);
    findings.push(finding);
    print(formatFindings([finding]).split('\n').at(-1) ?? '');
    if (finding.plan && values.verbose) print(formatTest(finding.plan, finding.promise));
  }
  print(formatFindings(findings));
  return findings.every(({ plan }) => plan !== null) ? 0 : 1;
}

async function main(): Promise<number> {
  if (values.help) {
    print(HELP);
    return 0;
  }
  if (values.defects !== undefined) return proveDefects(values.defects);
  const processes = values.processes === undefined ? {} : { processes: Number(values.processes) };
  const pool = new SimulatorPool({ database, ...processes });
  try {
    if (values.plan !== undefined) return await replay(JSON.parse(readFileSync(values.plan, 'utf8')), pool);
    if (values.seed !== undefined) return await replay(drawPlan(values.seed, database), pool);
    return await simulateSeeds(pool);
  } finally {
    pool.close();
  }
}

process.exitCode = await main();
