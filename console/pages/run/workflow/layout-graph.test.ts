import { expect, test } from 'vitest';
import { layoutGraph } from './layout-graph.ts';

const step = (id: string, ...predecessors: string[]) => ({ id, predecessors });
const node = (parent: string, status: string, index = 0) => ({
  ...{ id: `${parent}_${index}`, parent_id: parent, predecessor_ids: [], status },
});
const place = (graph: Parameters<typeof layoutGraph>[0], hasEnded = false) => layoutGraph(graph, hasEnded);

test('a step stands in the column after the last of its predecessors', () => {
  const steps = [step('d', 'b', 'c'), step('a'), step('b', 'a'), step('c', 'b'), step('e', 'a')];
  const { steps: placed, edges, columns, rows } = place({ steps, nodes: [] });
  expect(placed.map(({ id, column, row }) => [id, column, row])).toEqual([
    ['d', 3, 0],
    ['a', 0, 0],
    ['b', 1, 0],
    ['c', 2, 0],
    ['e', 1, 1],
  ]);
  expect(edges.map(({ from, to }) => `${from.id}${to.id}`).sort()).toEqual(['ab', 'ae', 'bc', 'bd', 'cd']);
  expect([columns, rows]).toEqual([4, 2]);
});

test.each([
  [[], false, 'queued'],
  [['pending'], false, 'queued'],
  [['running', 'pending'], false, 'running'],
  [['succeeded', 'pending'], false, 'running'],
  [['succeeded', 'succeeded'], false, 'succeeded'],
  [['succeeded', 'failed', 'running'], false, 'failed'],
  [['running', 'succeeded'], true, 'canceled'],
  [[], true, 'canceled'],
  [['a status of another version'], false, 'queued'],
] as const)('nodes %j, ended %s: %s', (statuses, hasEnded, expected) => {
  const nodes = statuses.map((status, index) => node('a', status, index));
  expect(place({ steps: [step('a')], nodes }, hasEnded).steps[0]?.status).toBe(expected);
});

test('a circle, an unknown predecessor and a repeated step end the search', () => {
  const { steps } = place({ steps: [step('a', 'b'), step('b', 'a', 'gone'), step('a', 'b')], nodes: [] });
  expect(steps.map(({ id }) => id)).toEqual(['a', 'b']);
});
