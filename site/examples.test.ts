import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { extractExamples, listExamplePages, listTabChoices } from './examples.ts';

const customApp = '/docs/get-started/quickstarts/custom-app';

describe('the examples of the pages', () => {
  test('the quickstarts and the page about keys have steps', () => {
    expect(listExamplePages()).toEqual(
      expect.arrayContaining(['/docs/get-started/quickstarts/overview', customApp, '/sign-up']),
    );
  });

  test('a page with tabs has one set of steps for each choice, with the chosen tab alone', () => {
    expect(listTabChoices(customApp)).toEqual([
      { language: 'Node', client: 'Command line' },
      { language: 'Python', client: 'Python' },
      { language: 'Node', client: 'curl' },
      { language: 'Python', client: 'JavaScript' },
    ]);
    const files = (language: string) =>
      extractExamples(customApp, { language, client: 'curl' }).flatMap((step) =>
        step.kind === 'file' ? [step.path] : [],
      );
    expect(files('Node')).toEqual(['van-loading/main.mjs', 'van-loading/app.yaml', 'parcels.json']);
    expect(files('Python')).toEqual(['van-loading/main.py', 'van-loading/app.yaml', 'parcels.json']);
  });

  test('shared tabs are steps of one story, each undone before the next, and the first tab comes last', () => {
    const batch = '/docs/using-switchyard/experiments/batch';
    expect(listTabChoices(batch)).toEqual([{}]);
    const steps = extractExamples(batch).flatMap((step) =>
      step.kind === 'shell' ? [[step.text, step.scope?.split(' ')[0]]] : [],
    );
    const last = steps.findIndex(([text]) => text?.includes('create batch --file batch.json'));
    expect(steps.slice(last - 2, last + 1)).toEqual([
      ['node create.mjs', 'JavaScript'],
      [
        'switchyard experiments delete more-iterations --yes && switchyard api updateApplication --app vehicle-routing --data \'{"objective": null}\'',
        undefined,
      ],
      ['switchyard experiments create batch --file batch.json', undefined],
    ]);
  });

  test('the output behind shared tabs is that of every tab without an expectation', () => {
    const capacities = '/docs/use-cases/vehicle-routing/capacities';
    const steps = extractExamples(capacities);
    const first = steps.findIndex(({ text }) => text === 'python3 plan.py');
    const tabs = steps
      .slice(first)
      .filter(({ kind }) => kind === 'shell')
      .slice(0, 4);
    const output = 'red\tflorist\t4\t3\nblue\tbakery\t5\t2';
    expect(tabs.map((step) => step.kind === 'shell' && step.expect)).toEqual([
      output,
      'start_load',
      output,
      output,
    ]);
    expect(extractExamples(capacities, {}, ['Python']).some(({ text }) => text.includes('nextmv'))).toBe(
      false,
    );
  });

  test('a block with skip is no step', () => {
    const steps = extractExamples('/docs/get-started/quickstarts/overview');
    expect(steps.map(({ text }) => text)).not.toContain('npm start');
    expect(steps[0]?.text).toContain('export SWITCHYARD_TOKEN=$(cat data/root-token)');
  });

  test('an expectation between slashes is a regular expression, any other is text', () => {
    const expects = extractExamples(customApp).flatMap((step) =>
      step.kind === 'shell' && step.expect ? [step.expect] : [],
    );
    expect(expects).toContain('application van-loading');
    expect(expects).toContainEqual(/"value": ?90/);
  });

  test('a push names its application, because a reader may have SWITCHYARD_APP from another page', () => {
    const unnamed: string[] = [];
    for (const route of listExamplePages())
      for (const choice of listTabChoices(route)) {
        const commands = extractExamples(route, choice)
          .filter(({ kind }) => kind === 'shell')
          .map(({ text }) => text)
          .join('\n')
          .replaceAll('\\\n', ' ');
        const [beforeExport = ''] = commands.split('export SWITCHYARD_APP=');
        for (const [push] of beforeExport.matchAll(/switchyard push .*/g))
          if (!push.includes('--app ')) unnamed.push(`${route}: ${push}`);
      }
    expect(unnamed).toEqual([]);
  });

  test('no two pages save files in one folder, because a reader may follow both in the same place', () => {
    const pagesByFolder = new Map<string, Set<string>>();
    for (const route of listExamplePages())
      for (const choice of listTabChoices(route))
        for (const step of extractExamples(route, choice)) {
          const [folder, ...below] = step.kind === 'file' ? step.path.split('/') : [];
          if (folder === undefined || below.length === 0) continue;
          pagesByFolder.set(folder, (pagesByFolder.get(folder) ?? new Set()).add(route));
        }
    expect(pagesByFolder.size).toBeGreaterThan(20);
    expect([...pagesByFolder].filter(([, routes]) => routes.size > 1)).toEqual([]);
  });

  test('every shell step is valid bash', () => {
    for (const route of listExamplePages()) {
      for (const choice of listTabChoices(route)) {
        const script = extractExamples(route, choice).flatMap((step) =>
          step.kind === 'shell' ? [step.text] : [],
        );
        execFileSync('bash', ['-n'], { input: script.join('\n') });
      }
    }
  });

  test.for([{ language: 'Node' }, { language: 'Python' }])(
    'the program of the page returns the output on the page: %o',
    (choice) => {
      const folder = mkdtempSync(join(tmpdir(), 'switchyard-example-'));
      try {
        const steps = extractExamples(customApp, choice);
        for (const step of steps) {
          if (step.kind !== 'file') continue;
          mkdirSync(dirname(join(folder, step.path)), { recursive: true });
          writeFileSync(join(folder, step.path), step.text);
        }
        const local = steps.find(({ kind, text }) => kind === 'shell' && text.endsWith('< parcels.json'));
        const run = (...args: string[]) =>
          JSON.parse(
            execFileSync('bash', ['-c', `${local?.text} ${args.join(' ')}`], {
              cwd: folder,
              encoding: 'utf8',
              stdio: ['ignore', 'pipe', 'ignore'],
            }),
          );
        expect(run()).toMatchObject({
          solution: { load: ['lamp', 'vase'] },
          statistics: { result: { value: 90, custom: { weight: 7, capacity: 10 } } },
        });
        expect(run('-capacity', '13')).toMatchObject({
          solution: { load: ['lamp', 'radio', 'vase'] },
          statistics: { result: { value: 120 } },
        });
        writeFileSync(join(folder, 'parcels.json'), '{}');
        expect(() => run()).toThrow();
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
