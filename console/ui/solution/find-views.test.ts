/** The views of outputs: those that an app asks for, those that its data allow, and hostile ones. */
import { describe, expect, test } from 'vitest';
import { findViews } from './find-views.ts';

const at = (lon: number, lat: number) => ({ lon, lat });
const stop = (name: string, lon: number, lat: number) => ({ stop: name, location: at(lon, lat) });
const vehicles = [
  { id: 'van', start_location: at(10, 53), route: [stop('a', 10.1, 53.1), stop('b', 10.2, 53.2)] },
  { id: 'truck', route: [stop('c', 10.3, 53.3)] },
];
const shifts = [
  { employee: 'ana', shift: 'early', start: '2026-03-02T06:00', end: '2026-03-02T14:00' },
  { employee: 'ben', shift: 'late', start: '2026-03-02T14:00', end: '2026-03-02T22:00' },
];

const describeViews = (value: unknown) => findViews(value).views.map(({ kind, label }) => `${kind} ${label}`);

describe('without a hint', () => {
  test.each<[string, unknown, string[]]>([
    ['routes', { solution: { vehicles } }, ['routes Routes']],
    [
      'routes of nextroute',
      {
        solutions: [
          { vehicles: [{ id: 'v', route: [{ stop: { id: 's', location: at(1, 2) }, arrival_time: '' }] }] },
        ],
      },
      ['routes Routes'],
    ],
    ['places of an input', { stops: [{ id: 'a', location: at(1, 2) }] }, ['map Places']],
    ['positions as pairs', { stores: [{ name: 'a', coordinates: [1, 2] }] }, ['map Places']],
    ['GeoJSON', { plan: { type: 'FeatureCollection', features: [point(1, 2)] } }, ['map Map']],
    ['a schedule', { solution: { shifts } }, ['gantt Schedule']],
    ['numbers as times', { tasks: [{ machine: 1, start: 0, duration: 5 }] }, ['gantt Schedule']],
    ['points of a series', { statistics: { series_data: [{ points: [{ lon: 1, lat: 2 }] }] } }, []],
    ['points of a plane', { curve: [{ x: 1, y: 2 }] }, []],
    ['a value that is no object', 'text', []],
    ['nothing', null, []],
  ])('finds %s', (_, value, views) => {
    expect(describeViews(value)).toEqual(views);
  });
});

function point(lon: number, lat: number) {
  return { type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [lon, lat] } };
}

describe('with hints', () => {
  const solution = { vehicles, shifts, rows: [{ a: 1 }], empty: [] };
  test.each<[string, object, string[]]>([
    ['a view', { schema: 'routes', path: 'solution.vehicles', label: 'Tours' }, ['routes Tours']],
    ['places', { schema: 'places', path: 'solution.vehicles[].route' }, ['map Places']],
    [
      'fields with other names',
      { schema: 'gantt', path: 'solution.shifts', fields: { resource: 'shift', label: 'employee' } },
      ['gantt Schedule'],
    ],
    ['a table', { schema: 'table', path: 'solution.rows' }, ['table Table']],
    ['an empty list', { schema: 'table', path: 'solution.empty' }, []],
  ])('shows %s', (_, hint, views) => {
    const found = findViews({ solution, visualization: [hint] });
    expect(found.views.map(({ kind, label }) => `${kind} ${label}`)).toEqual(views);
    expect(found.problems).toEqual([]);
  });

  test('reads them from the solution too, because the published client writes nothing beside it', () => {
    const visualization = [{ schema: 'table', path: 'solution.rows' }];
    expect(describeViews({ solution: { ...solution, visualization } })).toEqual(['table Table']);
  });

  test('an empty list shows no view', () => {
    expect(findViews({ solution, visualization: [] })).toEqual({ views: [], problems: [] });
  });

  test.each<[string, unknown, RegExp]>([
    ['a wrong path', [{ schema: 'routes', path: 'solution.vans' }], /nothing at `solution.vans`/],
    ['data that do not fit', [{ schema: 'routes', path: 'solution.rows' }], /no list of stops/],
    ['an unknown schema', [{ schema: 'pie', path: 'solution' }], /`schema` is `pie`.*routes, places/],
    ['a missing path', [{ schema: 'table' }], /`path` is missing/],
    ['no list', 'routes', /is no list/],
    ['a path into the prototype', [{ schema: 'table', path: 'constructor.prototype' }], /nothing at/],
  ])('explains %s', (_, visualization, problem) => {
    const found = findViews({ solution, visualization });
    expect(found.views).toEqual([]);
    expect(found.problems).toEqual([expect.stringMatching(problem)]);
  });
});

describe('the data of views', () => {
  test('a route has its depot, its stops in order and its facts', () => {
    const [view] = findViews({ vehicles: [{ ...vehicles[0], distance: 12.5 }] }).views;
    expect(view).toMatchObject({
      kind: 'routes',
      routes: [
        {
          name: 'van',
          start: { at: [10, 53] },
          end: undefined,
          stops: [{ name: 'a' }, { name: 'b' }],
          facts: [['distance', 12.5]],
        },
      ],
    });
  });

  test('times of one zone are those of its clock, and a stop may lend the resource from around it', () => {
    const bar = { stop: 'a', arrival: '2026-05-04T08:00:00+02:00', departure: '2026-05-04T08:30:00+02:00' };
    const hint = {
      schema: 'gantt',
      path: 'vehicles[].route',
      fields: { resource: 'id', label: 'stop', start: 'arrival', end: 'departure' },
    };
    const { views } = findViews({ vehicles: [{ id: 'van', route: [bar] }], visualization: [hint] });
    const start = Date.UTC(2026, 4, 4, 8);
    expect(views).toMatchObject([
      {
        schedule: { hasClock: true, bars: [{ resource: 'van', label: 'a', start, end: start + 1_800_000 }] },
      },
    ]);
  });

  test.each([
    ['Z', 'UTC'],
    ['+02:00', 'UTC+2'],
    ['-0330', 'UTC−3:30'],
    ['+00:00', 'UTC'],
    ['', ''],
  ])('a schedule with times in the zone "%s" names "%s"', (zone, name) => {
    const task = { machine: 'm', start: `2026-05-04T08:00:00${zone}`, end: `2026-05-04T09:00:00${zone}` };
    expect(findViews({ tasks: [task] }).views).toMatchObject([{ schedule: { zone: name } }]);
  });

  test('assignments without usable times are counted, and others shown', () => {
    const [view] = findViews({
      tasks: [
        { machine: 'm', start: 0, end: 4 },
        { machine: 'm', start: 2, end: 5 },
        { machine: 'm', start: 9, end: 7 },
      ],
    }).views;
    expect(view).toMatchObject({ schedule: { hasClock: false, dropped: 1, bars: [{ end: 4 }, { end: 5 }] } });
  });
});
