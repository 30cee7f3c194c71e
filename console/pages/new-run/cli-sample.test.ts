import { expect, test } from 'vitest';
import { formatCli } from './cli-sample.ts';
import type { PlannedRequest } from './request.ts';

const request = (body: PlannedRequest['body'], upload?: PlannedRequest['upload']): PlannedRequest => ({
  ...{ application: 'routing', instance: 'production', body },
  ...(upload && { upload }),
});

test('a pasted input goes through the standard input, with every value quoted where it has to be', () => {
  const body = {
    input: { day: "Monday's" },
    name: 'Two words',
    options: { duration: '4' },
    configuration: { queuing: { priority: 3 } },
  };
  expect(formatCli(request(body))?.split(' \\\n  ')).toEqual([
    `printf %s '{"day":"Monday'\\''s"}' |\n  nextmv cloud run create --app-id routing`,
    '--instance-id production',
    "--name 'Two words'",
    '--options duration=4',
    '--priority 3',
  ]);
});

test('the input of another run is fetched first, a file and a managed input are named', () => {
  expect(formatCli(request({}, { run: 'run-1' }))?.split('\n')[0]).toBe(
    'nextmv cloud run input --app-id routing --run-id run-1 --output input.json',
  );
  expect(formatCli(request({}, { file: new File([], 'my stops.json') }))).toContain(
    "--input 'my stops.json'",
  );
  expect(formatCli(request({ input_id: 'monday' }))).toContain('--managed-input-id monday');
});

test('an option with a comma and a text have no command', () => {
  expect(formatCli(request({ input: {}, options: { stops: 'a,b' } }))).toBeUndefined();
  expect(formatCli(request({ input: 'a text' }))).toBeUndefined();
});
