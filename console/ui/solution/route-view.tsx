import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useMemo, useState } from 'react';
import { assignColours } from '../maps/group-colours.ts';
import { MapCanvas } from '../maps/map-canvas.tsx';
import table from '../table.module.css';
import { FactCells, FactHeaders, listFactColumns } from './fact-columns.tsx';
import { drawRoutes, formatName, type Route } from './read-routes.ts';
import styles from './route-view.module.css';

/** Routes on a map with a table of them. A press on a route, in the table or on the map, shows its stops in order. */
export function RouteView({ routes, label }: { routes: readonly Route[]; label: string }) {
  const [chosen, setChosen] = useState<string>();
  const { shapes, dropped } = useMemo(() => drawRoutes(routes), [routes]);
  const colours = useMemo(() => assignColours(routes.map(({ name }) => name)), [routes]);
  const hasDepot = shapes.some(({ group }) => group === '');
  const route = routes.find(({ name }) => name === chosen);
  const select = (index: number | undefined) => {
    const group = index === undefined ? undefined : shapes[index]?.group;
    setChosen(group === '' ? undefined : group);
  };
  return (
    <figure className={styles.figure} aria-label={label}>
      <div className={styles.map}>
        <MapCanvas shapes={shapes} colours={colours} highlighted={chosen} onSelect={select} />
        {hasDepot && (
          <p className="meta">
            <span className={styles.depot} aria-hidden="true" /> Start or end of a route
          </p>
        )}
        {dropped > 0 && (
          <p className="meta">
            {dropped === 1 ? '1 stop has' : `${formatNumber(dropped)} stops have`} no usable coordinates.
          </p>
        )}
      </div>
      <div className={styles.side}>
        <RouteTable routes={routes} colours={colours} chosen={chosen} onChoose={setChosen} />
        <div aria-live="polite">{route && <StopTable route={route} />}</div>
      </div>
    </figure>
  );
}

interface RouteTableProps {
  routes: readonly Route[];
  colours: ReadonlyMap<string, string>;
  chosen: string | undefined;
  onChoose: (name: string | undefined) => void;
}

function RouteTable({ routes, colours, chosen, onChoose }: RouteTableProps) {
  const columns = listFactColumns(routes);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reachable by keyboard
    <section className={styles.scroll} aria-label="Table of routes" tabIndex={0}>
      <table className={table.table}>
        <thead>
          <tr>
            <th scope="col">Route</th>
            <th scope="col" className={table.number}>
              Stops
            </th>
            <FactHeaders columns={columns} />
          </tr>
        </thead>
        <tbody>
          {routes.map(({ name, stops, facts }, index) => (
            <tr key={index} data-chosen={name === chosen || undefined}>
              <th scope="row">
                <button
                  type="button"
                  className={styles.route}
                  aria-pressed={name === chosen}
                  onClick={() => onChoose(name === chosen ? undefined : name)}
                >
                  <span className={styles.swatch} style={{ background: colours.get(name) }} />
                  <bdi>{formatName(name)}</bdi>
                </button>
              </th>
              <td className={table.number} data-name="Stops">
                {formatNumber(stops.length)}
              </td>
              <FactCells columns={columns} facts={facts} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function StopTable({ route: { name, stops } }: { route: Route }) {
  const columns = listFactColumns(stops);
  return (
    <div className={styles.stops}>
      <h3>
        Stops of <bdi>{formatName(name)}</bdi>
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reachable by keyboard */}
      <section className={styles.scroll} aria-label="Table of stops" tabIndex={0}>
        <table className={table.table}>
          <thead>
            <tr>
              <th scope="col" className={table.number}>
                #
              </th>
              <th scope="col">Stop</th>
              <FactHeaders columns={columns} />
            </tr>
          </thead>
          <tbody>
            {stops.map((stop, index) => (
              <tr key={index}>
                <td className={table.number}>{index + 1}</td>
                <th scope="row">
                  <bdi>{formatName(stop.name)}</bdi>
                </th>
                <FactCells columns={columns} facts={stop.facts} />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}
