import { expect, test } from 'vitest';
import { findLines } from './find-lines.ts';

const curl = `curl -X POST 'http://127.0.0.1/v1/applications/APPLICATION_ID/runs?instance_id=x' \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'Idempotency-Key: KEY' \\
  -d '{
  "name": "Tuesday",
  "options": {
    "name": "inner"
  },
  "configuration": {
    "queuing": {
      "priority": 6
    }
  },
  "tags": []
}'`;

const python = `requests.request(
    json={
        "options": {
            "name": "inner",
        },
        "input": 1,
    },
)`;

test.for([
  ['path.application_id', 0, 1],
  ['query.instance_id', 0, 1],
  ['header.Idempotency-Key', 2, 1],
  ['body.name', 4, 1],
  ['body.options', 5, 3],
  ['body.options.name', 6, 1],
  ['body.configuration', 8, 5],
  ['body.configuration.queuing.priority', 10, 1],
  ['body.tags', 13, 1],
  ['body.tags[]', 13, 1],
] as const)('the lines of %s begin at line %d of the request', ([anchor, from, count]) => {
  expect(findLines(curl, anchor)).toEqual({ from, count });
});

test('the lines in another language are found too', () => {
  expect(findLines(python, 'body.options.name')).toEqual({ from: 3, count: 1 });
  expect(findLines(python, 'body.options')).toEqual({ from: 2, count: 3 });
  expect(findLines(python, 'body.input')).toEqual({ from: 5, count: 1 });
});

test('a field that the request leaves out has no line', () => {
  for (const anchor of ['body', 'body.missing', 'body.options.priority', 'query.limit', '202.body.run_id'])
    expect(findLines(curl, anchor), anchor).toBeUndefined();
});
