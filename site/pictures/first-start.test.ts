import { expect, test } from 'vitest';
import { drawFirstStart, filterOutput } from './first-start.ts';

const token = `eyJ${'a'.repeat(20)}${'b'.repeat(200)}`;
const printed = `npm warn about something
> exec node scripts/start.mjs

Installed in 30 s.
{"level":30,"msg":"Server listens"}

Switchyard is up.
  token  ${token}
         the root token, shown this once; it is kept in /srv/switchyard/data/root-token

  status     succeeded

`;
const depot = { lon: 10, lat: 60 };
const input = {
  stops: [{ id: 'a', location: { lon: 10.2, lat: 60.1 } }],
  vehicles: [{ id: 'van', start: depot, end: depot }],
};
const run = (stop: string) => ({ output: { solution: { vehicles: [{ id: 'van', route: [{ stop }] }] } } });

test('the picture shows the output for people, without token and folders', () => {
  expect(filterOutput(printed)).toEqual([
    '$ npm start',
    '',
    'Switchyard is up.',
    `  token  eyJ${'a'.repeat(20)}…`,
    '         the root token, shown this once; it is kept in data/root-token',
    '',
    '  status     succeeded',
  ]);
});

test('on the map at 60° north a degree east is half as long as one north', () => {
  const [, x1, y1, x2, y2] =
    /class="line" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)L/.exec(drawFirstStart(printed, input, run('a'))) ??
    [];
  expect((Number(x2) - Number(x1)) / (Number(y1) - Number(y2))).toBeCloseTo(1, 1);
});

test('a run of another input is refused', () => {
  expect(() => drawFirstStart(printed, input, run('z'))).toThrow('The input has no stop "z"');
});
