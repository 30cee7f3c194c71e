import { expect, test } from 'vitest';
import { formatPublishedCommand, formatRunCommand } from './cli-sample.ts';
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
  expect(formatPublishedCommand(request(body))?.split(' \\\n  ')).toEqual([
    `printf %s '{"day":"Monday'\\''s"}' |\n  nextmv cloud run create --app-id routing`,
    '--instance-id production',
    "--name 'Two words'",
    '--options duration=4',
    '--priority 3',
  ]);
});

test('the input of another run is fetched first, a file and a managed input are named', () => {
  expect(formatPublishedCommand(request({}, { run: 'run-1' }))?.split('\n')[0]).toBe(
    'nextmv cloud run input --app-id routing --run-id run-1 --output input.json',
  );
  expect(formatPublishedCommand(request({}, { file: new File([], 'my stops.json') }))).toContain(
    "--input 'my stops.json'",
  );
  expect(formatPublishedCommand(request({ input_id: 'monday' }))).toContain('--managed-input-id monday');
});

test('an option with a comma and a text have no command', () => {
  expect(formatPublishedCommand(request({ input: {}, options: { stops: 'a,b' } }))).toBeUndefined();
  expect(formatPublishedCommand(request({ input: 'a text' }))).toBeUndefined();
});

test('the command of switchyard sends every input, and texts with any option', () => {
  const body = { input: 'a text', options: { stops: 'a,b' }, configuration: { queuing: { priority: 3 } } };
  expect(formatRunCommand(request(body)).split(' \\\n  ')).toEqual([
    "printf %s 'a text' |\n  switchyard run --app routing",
    '--instance production',
    '--input -',
    '--format text',
    "--option 'stops=a,b'",
    '--priority 3',
    '--output -',
  ]);
  expect(formatRunCommand(request({}, { run: 'run-1' })).split('\n')[0]).toBe(
    'switchyard runs input --app routing run-1 --output input.json',
  );
  expect(formatRunCommand(request({ input_id: 'monday' }))).toContain('--input-id monday');
});
