/**
 * The metrics of the state that all servers share and of applications, and the dashboard and the alerts in `operations/`:
 * they use metrics and labels that a running server has.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { APPLICATIONS_MAX, ApplicationMetrics } from '../../platform/http/metrics.ts';
import { multiplyRows, PADDED_ROW_NUMBER } from '../../testing/database/multiply-rows.ts';
import { createOtherAccount } from '../../testing/fixtures/accounts.ts';
import { createRun, createRunAndWait, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { findPromtool, runPromtool } from '../../testing/host/promtool.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { insertBackup } from './backup-records.ts';

const operations = join(import.meta.dirname, '..', '..', '..', 'operations');
const RULES = join(operations, 'prometheus-alerts.yaml');

/** The labels of each metric in a scrape; those of a histogram without its suffixes too. */
type Scrape = Map<string, Set<string>>;

let server: TestServer;
let text: string;
let scrape: Scrape;
beforeAll(async () => {
  server = await startTestServer({
    env: {
      PATH: process.env.PATH ?? '',
      SWITCHYARD_CAPACITY: '1,8c16gb12h=2',
      SWITCHYARD_PROVISIONER: 'command',
      SWITCHYARD_COMMAND_START: 'exit 1',
      SWITCHYARD_COMMAND_LIST: 'true',
      SWITCHYARD_COMMAND_STOP: 'true',
    },
  });
  await server.client.call('setLicenses', { body: { licenses: [{ name: 'solver', total: 3 }] } });
  await pushApp(
    server,
    'app',
    nodeApp('(input) => (input.waits ? new Promise(() => setTimeout(() => {}, 1e6)) : input)'),
  );
  await insertPastRuns((await createRunAndWait(server, 'app', { input: {} })).id);
  const failing = nodeApp('() => process.exit(1)');
  await pushApp(server, 'other', failing);
  await createRunAndWait(server, 'other', { input: {} });
  const holder = await createRun(server, 'app', { input: { waits: true } });
  await server.waitUntil('runs-started', async () => {
    const { body } = await server.client.call('getWorkers');
    return body.items[0]?.runs.some((run) => run.run_id === holder);
  });
  await createRun(server, 'app', { input: {} });
  await server.runningServer.database.transact((tx) =>
    insertBackup(tx, {
      ...{ id: 'backup', made_at: 1, finished_at: 1, folder: '/backups', rows: 1, blobs: 0 },
      ...{ bytes: 1, copied_bytes: 1, has_key: 0, verified_at: null, problem: '' },
    }),
  );
  text = (await server.request('GET', '/metrics')).text;
  scrape = parseScrape(text);
});
afterAll(() => server.close());

/** Without past runs no start is predicted. */
async function insertPastRuns(run: string): Promise<void> {
  await multiplyRows(server.runningServer.database, {
    table: 'runs',
    template: { column: 'id', value: run },
    count: 50,
    changes: { id: `'past-' || ${PADDED_ROW_NUMBER}`, finished_at: 't.initiated_at + 60000' },
  });
}

function parseScrape(scraped: string): Scrape {
  const found: Scrape = new Map();
  for (const line of scraped.split('\n')) {
    const [, name, labels = ''] = /^([a-z_0-9]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const names = [...labels.matchAll(/([a-z_]+)="/g)].map(([, label = '']) => label);
    found.set(name, new Set([...(found.get(name) ?? []), ...names]));
  }
  return found;
}

const read = (series: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')
      .at(-1) ?? Number.NaN,
  );

describe('the metrics of shared state', () => {
  test('count workers by status, and slots', () => {
    expect(read('switchyard_workers{status="active"}')).toBe(1);
    expect(read('switchyard_workers{status="unresponsive"}')).toBe(0);
    expect(read('switchyard_worker_slots{state="busy"}')).toBe(1);
    expect(read('switchyard_worker_slots{state="free"}')).toBe(2);
  });

  test('have the predicted start of the next run of a class, and none of a class without one', () => {
    const bounds = ['earliest', 'latest'].map((bound) =>
      read(`switchyard_queue_predicted_start_seconds{execution_class="6c9500mb870s",bound="${bound}"}`),
    );
    expect(bounds[0]).toBeGreaterThanOrEqual(0);
    expect(bounds[1]).toBeGreaterThanOrEqual(bounds[0] ?? Number.NaN);
    expect(bounds[1]).toBeLessThanOrEqual(60);
    expect(text).not.toContain('switchyard_queue_predicted_start_seconds{execution_class="8c16gb12h"');
  });
});

describe('the metrics by application', () => {
  test('have runs and seconds by status', () => {
    const [, account = ''] = /switchyard_application_runs_total\{account="([^"]+)"/.exec(text) ?? [];
    const labels = (application: string, status: string) =>
      `{account="${account}",application="${application}",status="${status}"}`;
    expect(read(`switchyard_application_runs_total${labels('app', 'succeeded')}`)).toBe(1);
    expect(read(`switchyard_application_runs_total${labels('other', 'failed')}`)).toBe(1);
    expect(read(`switchyard_application_run_seconds_total${labels('app', 'succeeded')}`)).toBeGreaterThan(0);
  });

  test('are for those who manage the server', async () => {
    const anonymous = await server.request('GET', '/metrics', { token: null });
    expect(anonymous.text).toContain('switchyard_runs_finished_total');
    expect(anonymous.text).not.toContain('switchyard_application_');
    const other = await createOtherAccount(server, 'admin');
    const admin = await server.request('GET', '/metrics', { token: other.token });
    expect(admin.status).toBe(200);
    expect(admin.text).not.toContain('switchyard_application_');
    expect((await server.request('GET', '/metrics', { token: 'wrong' })).status).toBe(401);
  });

  test('have a bounded number of series, however many applications there are', async () => {
    const metrics = new ApplicationMetrics();
    for (let index = 0; index < APPLICATIONS_MAX + 800; index += 1)
      for (const status of ['succeeded', 'failed', 'canceled'])
        metrics.countRun(
          { account_id: 'account' as never, application_id: `app-${index}` as never },
          status,
          1000,
        );
    const lines = (await metrics.registry.metrics()).split('\n').filter((line) => /^switchyard/.test(line));
    expect(lines).toHaveLength((APPLICATIONS_MAX + 1) * 3 * 2);
    expect(lines).toContain(
      'switchyard_application_runs_total{account="",application="other",status="failed"} 800',
    );
  });
});

interface Query {
  name: string;
  expression: string;
}

interface Dashboard {
  panels: {
    id: number;
    title: string;
    gridPos: { x: number; y: number; w: number; h: number };
    targets?: { expr: string }[];
  }[];
  templating: unknown;
}

function readDashboard(): Dashboard {
  return JSON.parse(readFileSync(join(operations, 'grafana-dashboard.json'), 'utf8')) as Dashboard;
}

function listDashboardQueries(): Query[] {
  const { panels, templating } = readDashboard();
  const replace = (text: string): string =>
    text.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h').replaceAll('$job', '.*');
  const targets = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ name: `panel ${title}`, expression: replace(expr) })),
  );
  const [, metric = ''] = /label_values\((\w+), job\)/.exec(JSON.stringify(templating)) ?? [];
  return [...targets, { name: 'variable job', expression: metric }];
}

interface Rule {
  alert: string;
  expr: string;
}

function listRules(): Rule[] {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

const queries: Query[] = [
  ...listDashboardQueries(),
  ...listRules().map(({ alert, expr }) => ({ name: `alert ${alert}`, expression: expr })),
];

/** The labels that Prometheus adds to every series of a target. */
const TARGET_LABELS = ['job', 'instance'];
/** A label of a metric that a target label hides; `job` of the background jobs. */
const EXPORTED = 'exported_';

interface Usage {
  metrics: string[];
  labels: string[];
  hasError: boolean;
}

/** Parses the query with Prometheus's own grammar. */
function parseQuery(expression: string): Usage {
  const usage: Usage = { metrics: [], labels: [], hasError: false };
  parser.parse(expression).iterate({
    enter({ type, from, to, node }) {
      const written = expression.slice(from, to);
      if (type.isError) usage.hasError = true;
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector') usage.metrics.push(written);
      if (type.name === 'LabelName') usage.labels.push(written);
    },
  });
  return usage;
}

/** The label `le` of a histogram is in its buckets. */
function listLabels(metrics: readonly string[]): string[] {
  const own = metrics.flatMap((name) => [...(scrape.get(name) ?? [])]);
  const hidden = own.filter((label) => TARGET_LABELS.includes(label)).map((label) => `${EXPORTED}${label}`);
  return [...own.filter((label) => !TARGET_LABELS.includes(label)), ...hidden, ...TARGET_LABELS];
}

describe('the dashboard and the alerts', () => {
  test.each(queries)('$name has metrics and labels of a running server', ({ expression }) => {
    const { metrics, labels, hasError } = parseQuery(expression);
    expect(hasError, expression).toBe(false);
    expect(metrics.length).toBeGreaterThan(0);
    // Prometheus makes `up` itself.
    for (const name of metrics.filter((one) => one !== 'up')) expect([...scrape.keys()]).toContain(name);
    for (const label of labels) expect(listLabels(metrics)).toContain(label);
  });

  test('have panels that do not cover each other, each with its own id', () => {
    const panels = readDashboard().panels.map(({ id, gridPos }) => ({ id, ...gridPos }));
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const one of panels) {
      expect(one.x + one.w).toBeLessThanOrEqual(24);
      const covering = panels.filter(
        (other) =>
          other.id !== one.id &&
          one.x < other.x + other.w &&
          other.x < one.x + one.w &&
          one.y < other.y + other.h &&
          other.y < one.y + one.h,
      );
      expect(covering, `panel ${one.id}`).toEqual([]);
    }
  });

  test('show every metric of a Switchyard server except those of Node.js', () => {
    const used = new Set(queries.flatMap(({ expression }) => parseQuery(expression).metrics));
    const own = [...scrape.keys()].filter((name) => !/^switchyard_(process|nodejs)_/.test(name));
    const unused = own.filter((name) => {
      const base = name.replace(/_(bucket|sum|count)$/, '');
      return ![name, `${base}_bucket`, `${base}_count`].some((one) => used.has(one));
    });
    expect(unused).toEqual(['switchyard_job_last_run_timestamp_seconds', 'switchyard_job_rows_total']);
  });

  test.each([
    ['sum(rate(switchyard_nothing_total[5m]))', 'metrics', 'switchyard_nothing_total'],
    ['sum by (nowhere) (switchyard_workers)', 'labels', 'nowhere'],
    ['switchyard_workers{status="active"', 'hasError', true],
  ] as const)('a wrong query is found: %s', (expression, field, found) => {
    const value = parseQuery(expression)[field];
    if (typeof value === 'boolean') return expect(value).toBe(found);
    expect(value).toContain(found);
    expect([...scrape.keys(), ...listLabels(['switchyard_workers'])]).not.toContain(found);
  });
});

/** null on a host without apt-get, where it must be installed by hand. */
const promtool = findPromtool();

/** A series of a value for half an hour, and the alert that it fires. */
const FIRES: [alert: string, series: Record<string, string>][] = [
  ['SwitchyardDown', { 'up{job="switchyard",instance="a"}': '0x60' }],
  ['SwitchyardQueueWaits', { 'switchyard_queue_oldest_seconds{execution_class="c"}': '1000+60x60' }],
  [
    'SwitchyardNoWorker',
    {
      'switchyard_queue_runs{execution_class="c"}': '5x60',
      'switchyard_workers{status="active"}': '0x60',
    },
  ],
  ['SwitchyardWorkerUnresponsive', { 'switchyard_workers{status="unresponsive"}': '1x60' }],
  [
    'SwitchyardProvisionerFails',
    {
      switchyard_provisioner_failed_starts_total: '0+1x60',
      // No worker is missing while its job waits.
      'switchyard_provisioner_jobs{state="pending"}': '1x60',
      'switchyard_queue_runs{execution_class="c"}': '5x60',
      'switchyard_workers{status="active"}': '0x60',
    },
  ],
  ['SwitchyardRunsUnservable', { switchyard_provisioner_unservable_runs: '1x60' }],
  [
    'SwitchyardRunsFail',
    {
      'switchyard_runs_finished_total{status="failed"}': '0+1x60',
      'switchyard_runs_finished_total{status="succeeded"}': '0+2x60',
    },
  ],
  ['SwitchyardRunsRequeued', { switchyard_runs_requeued_total: '0+1x60' }],
  [
    'SwitchyardRequestsFail',
    {
      'switchyard_http_request_seconds_count{operation="a",status="503"}': '0+1x60',
      'switchyard_http_request_seconds_count{operation="a",status="200"}': '0+50x60',
    },
  ],
  ['SwitchyardNoLeader', { 'switchyard_leader{instance="a"}': '0x60' }],
  ['SwitchyardJobFails', { 'switchyard_job_failures_total{exported_job="a"}': '0+1x60' }],
  ['SwitchyardContentDamaged', { 'switchyard_damaged_blobs_total{damage="changed"}': '0x20 1x40' }],
  ['SwitchyardBackupOld', { switchyard_backup_age_seconds: '200000+60x60' }],
  [
    'SwitchyardWebhooksFail',
    {
      'switchyard_webhook_attempts_total{status="failed"}': '0+3x60',
      'switchyard_webhook_attempts_total{status="succeeded"}': '0+1x60',
    },
  ],
  ['SwitchyardSpansNotExported', { 'switchyard_spans_total{result="failed"}': '0+1x60' }],
];

// Only promtool evaluates rules as Prometheus does; the grammar alone is checked on every host.
describe.runIf(promtool !== null)('Prometheus', () => {
  test('accepts the rules, and the metrics of a running server', () => {
    expect(runPromtool(promtool ?? '', ['check', 'rules', RULES])).toContain(
      `${listRules().length} rules found`,
    );
    // The library prom-client names these.
    const own = text.split('\n').filter((line) => !line.includes('switchyard_nodejs_'));
    expect(runPromtool(promtool ?? '', ['check', 'metrics'], own.join('\n'))).toBe('');
  });

  test('fires each alert, and no other one, for the series that it is about', () => {
    expect(FIRES.map(([alert]) => alert)).toEqual(listRules().map(({ alert }) => alert));
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-rules-'));
    try {
      const file = join(folder, 'tests.yaml');
      writeFileSync(
        file,
        stringify({ rule_files: [RULES], tests: FIRES.map(([, series], index) => writeTest(index, series)) }),
      );
      expect(runPromtool(promtool ?? '', ['test', 'rules', file])).toContain('SUCCESS');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Writes a test in the form of promtool: after half an hour the alert fires, and no other one. */
function writeTest(index: number, series: Record<string, string>) {
  const number = (names: readonly string[]): string =>
    `count(ALERTS{alertname=~"${names.join('|')}",alertstate="firing"}) or vector(0)`;
  const [expected = ''] = FIRES[index] ?? [];
  const others = FIRES.map(([alert]) => alert).filter((alert) => alert !== expected);
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      { expr: number([expected]), eval_time: '50m', exp_samples: [{ labels: '{}', value: 1 }] },
      { expr: number(others), eval_time: '50m', exp_samples: [{ labels: '{}', value: 0 }] },
    ],
  };
}
