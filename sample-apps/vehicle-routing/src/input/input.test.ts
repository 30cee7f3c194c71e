/** The app refuses a wrong input with one sentence: the field, its value and a valid one. */
import { expect, it } from 'vitest';
import { buildModel } from '../search/model.ts';
import { defaultSettings, Search } from '../search/search.ts';
import { InputError } from './fields.ts';
import { parseInput } from './input.ts';

const stop = { id: 'a', location: { x: 1, y: 2 } };
const vehicle = { id: 'v', start: { x: 0, y: 0 } };
const other = { ...stop, id: 'b' };

function refusal(input: unknown): string {
  try {
    const problem = parseInput(typeof input === 'string' ? input : JSON.stringify(input));
    new Search(buildModel(problem), defaultSettings, () => 0);
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
  return 'accepted';
}

const withStop = (fields: object) => ({ stops: [{ ...stop, ...fields }], vehicles: [vehicle] });
const withVehicle = (fields: object) => ({ stops: [stop, other], vehicles: [{ ...vehicle, ...fields }] });
const number = 'it must be a number of at least 0.';

it.each<[unknown, string]>([
  [[], 'The input is []; it must be an object with "stops" and "vehicles".'],
  [{ vehicles: [vehicle] }, 'stops is missing; the input must be an object with "stops" and "vehicles".'],
  [{ stops: {}, vehicles: [vehicle] }, 'stops is {}; it must be an array.'],
  [{ stops: [], vehicles: [] }, 'vehicles is []; it must be an array with at least one vehicle.'],
  [{ ...withStop({}), stop: [] }, 'input.stop is not a field of this object; did you mean "stops"?'],
  [withStop({ id: '' }), 'stops[0].id is ""; it must be a non-empty string.'],
  [withStop({ id: 7 }), 'stops[0].id is 7; it must be a non-empty string.'],
  [
    { stops: [stop, stop], vehicles: [vehicle] },
    'stops[1].id is "a", which stops[0] has already; ids must differ.',
  ],
  [withStop({ window: [] }), 'stops[0].window is not a field of this object; did you mean "windows"?'],
  [withStop({ location: undefined }), 'stops[0].location is missing; it must be an object.'],
  [
    withStop({ location: 'there' }),
    'stops[0].location is "there"; it must be coordinates or the id of an entry of "locations".',
  ],
  [withStop({ location: { x: 1 } }), 'stops[0].location.y is missing; it must be a number.'],
  [
    withStop({ location: { x: 1, lat: 2 } }),
    'stops[0].location mixes lon or lat with x or y; give lon and lat, or x and y.',
  ],
  [withStop({ location: { lon: 1, lat: 91 } }), 'stops[0].location.lat is 91; it must be from -90 to 90.'],
  [
    withStop({ location: { lon: 1, lat: 1 } }),
    'Some locations use lon and lat and others x and y; all must use the same, because distances between the two mean nothing.',
  ],
  [withStop({ deliver: -1 }), `stops[0].deliver is -1; ${number}`],
  [withStop({ pickup: { kg: '3' } }), `stops[0].pickup.kg is "3"; ${number}`],
  [
    withStop({ deliver: [1] }),
    'stops[0].deliver is [1]; it must be a number, or an object with one number for each dimension.',
  ],
  [withStop({ service_duration: -5 }), `stops[0].service_duration is -5; ${number}`],
  [withStop({ unplanned_penalty: 'high' }), `stops[0].unplanned_penalty is "high"; ${number}`],
  [withStop({ priority: 0 }), 'stops[0].priority is 0; it must be a whole number from 1 to 9.'],
  [withStop({ vehicles: ['w'] }), 'stops[0].vehicles[0] is "w"; it must be the id of a vehicle.'],
  [withStop({ skills: 'crane' }), 'stops[0].skills is "crane"; it must be an array.'],
  [
    withStop({ windows: [] }),
    'stops[0].windows is []; it must be an array with at least one {"from", "to"}, or left out.',
  ],
  [
    withStop({ windows: [{ from: 5, to: 4 }] }),
    'stops[0].windows[0].to is 4; it must be no earlier than stops[0].windows[0].from, which is 5.',
  ],
  [
    withStop({
      windows: [
        { from: 5, to: 9 },
        { from: 8, to: 10 },
      ],
    }),
    'stops[0].windows[1] starts before stops[0].windows[0] is over; windows must be in order and must not overlap.',
  ],
  [
    withStop({ windows: [{ from: 'monday', to: 9 }] }),
    'stops[0].windows[0].from is "monday"; it must be a number of seconds or a timestamp such as "2026-05-04T08:00:00Z".',
  ],
  [
    withStop({ windows: [{ from: 5, to: '2026-05-04T08:00:00Z' }] }),
    'stops[0].windows[0].to is written in timestamps where the input used seconds before; use one of the two.',
  ],
  [
    withVehicle({ speed: 0 }),
    'vehicles[0].speed is 0; it must be a number above 0, in distance units per second.',
  ],
  [withVehicle({ max_stops: 1.5 }), 'vehicles[0].max_stops is 1.5; it must be a whole number of at least 0.'],
  [
    withVehicle({ capacity: 'big' }),
    'vehicles[0].capacity is "big"; it must be a number, or an object with one number for each dimension.',
  ],
  [
    withVehicle({ shift: { from: 9, to: 5 } }),
    'vehicles[0].shift.to is 5; it must be no earlier than vehicles[0].shift.from, which is 9.',
  ],
  [
    withVehicle({ initial_stops: ['z'] }),
    'vehicles[0].initial_stops[0] is "z"; it must be the id of a stop.',
  ],
  [
    withVehicle({ initial_stops: ['a', 'a'] }),
    'vehicles[0].initial_stops[1] is "a", which is listed before; a stop can be in one place only.',
  ],
  [
    withVehicle({ initial_stops: [{ id: 'a', fixed: 'yes' }] }),
    'vehicles[0].initial_stops[0].fixed is "yes"; it must be true or false.',
  ],
  [
    withVehicle({
      max_stops: 1,
      initial_stops: [
        { id: 'a', fixed: true },
        { id: 'b', fixed: true },
      ],
    }),
    'vehicles[0].initial_stops[1] is "b", a fixed stop that "v" cannot serve in this order; check its windows, skills, amounts and the limits of the vehicle.',
  ],
  [
    { ...withVehicle({}), shipments: [{ pickup: 'a', delivery: 'a' }] },
    'shipments[0].delivery is "a"; it must be a stop other than the pickup.',
  ],
  [
    { ...withVehicle({}), shipments: [{ pickup: 'a', delivery: 'z' }] },
    'shipments[0].delivery is "z"; it must be the id of a stop.',
  ],
  [
    {
      ...withVehicle({ initial_stops: [{ id: 'a', fixed: true }] }),
      shipments: [{ pickup: 'a', delivery: 'b' }],
    },
    'vehicles[0].initial_stops fixes "a" but not "b" of the same shipment; fix both on this vehicle, or neither.',
  ],
  [
    {
      stops: [{ ...stop, deliver: 1 }, other],
      vehicles: [vehicle],
      shipments: [{ pickup: 'a', delivery: 'b' }],
    },
    'shipments[0].pickup is "a", a stop with its own deliver or pickup; put the amount into the shipment\'s quantity.',
  ],
  [
    { ...withStop({ location: 'p' }), locations: [{ id: 'p' }], vehicles: [{ id: 'v' }] },
    'locations[0] has no coordinates; without "distance_matrix" every location needs lon and lat, or x and y.',
  ],
  [
    {
      ...withStop({ location: 'p' }),
      locations: [{ id: 'p' }],
      vehicles: [{ id: 'v' }],
      distance_matrix: [],
    },
    'distance_matrix has 0 rows; it must have 1, one for each entry of "locations".',
  ],
  [
    {
      ...withStop({ location: 'p' }),
      locations: [{ id: 'p' }],
      vehicles: [{ id: 'v' }],
      distance_matrix: [[-1]],
    },
    `distance_matrix[0][0] is -1; ${number}`,
  ],
  [
    { ...withStop({}), duration_matrix: [[0]] },
    'stops[0].location holds coordinates, but with duration_matrix every location must be the id of an entry of "locations".',
  ],
  [
    { ...withStop({ location: 'p' }), locations: [{ id: 'p' }, { id: 'p' }] },
    'locations[1].id is "p", which an earlier location has; ids must differ.',
  ],
  [
    { ...withStop({}), defaults: { stops: { service: 3 } } },
    'defaults.stops.service is not a field of this object; did you mean "service_duration"?',
  ],
])('%j', (input, message) => {
  expect(refusal(input)).toBe(message);
});

it('says that text is not JSON', () => {
  expect(refusal('{"stops": [')).toMatch(/^The input is not JSON: .*\.$/);
});
