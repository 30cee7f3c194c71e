import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { useMemo, useState } from 'react';
import { formatCell } from '../content/json-text.ts';
import { FactList } from '../facts.tsx';
import { assignColours } from './group-colours.ts';
import { MapCanvas } from './map-canvas.tsx';
import type { MapData } from './read-geojson.ts';
import styles from './shape-map.module.css';

const LEGEND_MAX = 40;

/** Shapes on a map with a legend. A press on a shape shows its properties as text. */
export function ShapeMap({ data, label }: { data: MapData; label: string }) {
  const [selected, setSelected] = useState<number>();
  const { shapes, dropped } = data;
  const colours = useMemo(() => assignColours(shapes.map(({ group }) => group)), [shapes]);
  if (shapes.length === 0) return <p>There is no shape with coordinates to show on a map.</p>;
  const groups = [...colours].filter(([group]) => group !== '');
  const shape = selected === undefined ? undefined : shapes[selected];
  return (
    <figure className={styles.figure} aria-label={label}>
      <MapCanvas shapes={shapes} colours={colours} onSelect={setSelected} />
      {groups.length > 0 && (
        <ul className={styles.legend} aria-label="Legend">
          {groups.slice(0, LEGEND_MAX).map(([group, colour]) => (
            <li key={group}>
              <span className={styles.swatch} style={{ background: colour }} />
              <bdi>{escapeInvisible(group)}</bdi>
            </li>
          ))}
        </ul>
      )}
      <div aria-live="polite">
        {shape && (
          <FactList
            layout="columns"
            facts={Object.entries(shape.properties).map(([name, value]) => [
              escapeInvisible(name),
              formatCell(value),
            ])}
          />
        )}
      </div>
      {dropped > 0 && (
        <p className="meta">
          {dropped === 1 ? '1 shape has' : `${dropped} shapes have`} no usable coordinates.
        </p>
      )}
    </figure>
  );
}
