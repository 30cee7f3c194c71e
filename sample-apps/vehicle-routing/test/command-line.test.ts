/** The app as a process: what it prints where, how it refuses, how it stops, and that a seed repeats a run. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { defaultOptions } from '../src/options.ts';
import { checkOutput, type Output, runApp, startApp } from './run-app.ts';

const sample = readFileSync(new URL('../input.json', import.meta.url), 'utf8');
const large = readFileSync(new URL('../input-large.json', import.meta.url), 'utf8');
const limited = ['-iterations', '300', '-duration', '0'];

describe('a run', () => {
  it('prints one object on stdout, with statistics small enough to be read, and progress on stderr', async () => {
    const { code, stdout, stderr } = await runApp(sample, [...limited, '-seed', '7']);
    const output: Output = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(checkOutput(JSON.parse(sample), output)).toEqual([]);
    expect(output.options).toEqual({ ...defaultOptions, iterations: 300, duration: 0, seed: 7 });
    const { statistics } = output;
    expect(statistics.schema).toBe('v1');
    expect(statistics.run.iterations).toBe(300);
    expect(statistics.result.custom.stops_planned).toBe(
      output.solution.vehicles.reduce((sum, { route }) => sum + route.length, 0),
    );
    expect(statistics.series_data.value.data_points.at(-1)?.y).toBe(statistics.result.value);
    expect(Buffer.byteLength(JSON.stringify(statistics))).toBeLessThan(10_000);
    expect(output.assets[0]).toMatchObject({
      content_type: 'json',
      visual: { schema: 'geojson', label: 'Routes' },
    });
    expect(stderr).toMatch(/^first plan: iteration 0, .* value \d/m);
    expect(stderr).toMatch(/^finished: 300 iterations/m);
  });

  it('is the same for the same seed and iterations, and another for another seed', async () => {
    const plan = async (seed: string) => {
      const { stdout } = await runApp(large, [...limited, '-seed', seed]);
      const { solution, statistics }: Output = JSON.parse(stdout);
      return { solution, value: statistics.result.value };
    };
    const [first, again, other] = await Promise.all([plan('1'), plan('1'), plan('2')]);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it('prints the best plan so far when a signal stops it', async () => {
    const child = startApp(['-duration', '600', '-log.interval', '0']);
    const printed = text(child.stdout);
    child.stdin.end(large);
    const lines = createInterface({ input: child.stderr });
    const received: string[] = [];
    lines.on('line', (line) => {
      received.push(line);
      if (line.startsWith('improved')) child.kill('SIGTERM');
    });
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    const output: Output = JSON.parse(await printed);
    expect(checkOutput(JSON.parse(large), output)).toEqual([]);
    expect(output.statistics.run.duration).toBeLessThan(600);
    expect(received.some((line) => line.startsWith('stopped by SIGTERM'))).toBe(true);
  });

  it('plans an input without stops', async () => {
    const { code, stdout } = await runApp('{"stops": [], "vehicles": [{"id": "v"}]}', limited);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).solution).toEqual({ vehicles: [], unplanned: [] });
  });
});

describe('a wrong option or input', () => {
  it.each([
    [['-duraton', '3'], '-duraton is not an option; did you mean "-duration"?'],
    [['duration', '3'], 'duration is not an option; did you mean "-duration"?'],
    [['-duration'], '-duration has no value; write "-duration <value>".'],
    [['-duration', 'long'], '-duration is "long"; it must be a number from 0 to 86400.'],
    [['-iterations', '1.5'], '-iterations is "1.5"; it must be a whole number from 0 to 1000000000000.'],
    [['-map', 'yes'], '-map is "yes"; it must be true or false.'],
    [
      ['-duration', '0'],
      '-duration and -iterations are both 0, so the search would never end; give one of them a limit.',
    ],
  ])('%j ends with one sentence', async (args, message) => {
    expect(await runApp(sample, args)).toEqual({ code: 1, stdout: '', stderr: `${message}\n` });
  });

  it('ends with one sentence and exit code 1', async () => {
    const input = '{"stops": [{"id": "a", "location": {"lon": 190, "lat": 0}}], "vehicles": [{"id": "v"}]}';
    const stderr = 'stops[0].location.lon is 190; it must be from -180 to 180.\n';
    expect(await runApp(input)).toEqual({ code: 1, stdout: '', stderr });
  });
});

it('has the options of its manifest, with the same defaults', () => {
  const manifest = readFileSync(new URL('../app.yaml', import.meta.url), 'utf8');
  const items = [...manifest.matchAll(/- name: ([\w.]+)\n\s+option_type: (\w+)\n\s+default: (\S+)/g)];
  const listed = Object.fromEntries(
    items.map(([, name, type, value]) => [name, type === 'bool' ? value === 'true' : Number(value)]),
  );
  expect(listed).toEqual(defaultOptions);
});
