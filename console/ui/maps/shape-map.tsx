import { useEffect, useMemo, useRef, useState } from 'react';
import { escapeInvisible, formatCell } from '../content/json-text.ts';
import { Notice } from '../notice.tsx';
import { assignColours, resolveColour } from './group-colours.ts';
import type { MapData, MapShape } from './read-geojson.ts';
import styles from './shape-map.module.css';

const LEGEND_MAX = 40;

/** Shapes on a map with a legend. A press on a shape shows its properties as text. */
export function ShapeMap({ data, label }: { data: MapData; label: string }) {
  const host = useRef<HTMLDivElement>(null);
  const [selected, setSelected] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const { shapes, dropped } = data;
  const colours = useMemo(() => assignColours(shapes.map(({ group }) => group)), [shapes]);
  useEffect(() => {
    const element = host.current;
    let close = () => {};
    let isMounted = true;
    if (!element || shapes.length === 0) return;
    const resolved = new Map([...colours].map(([group, one]) => [group, resolveColour(element, one)]));
    const ground = resolveColour(element, 'var(--ground)');
    import('./draw-map.ts')
      .then(({ drawMap }) => {
        if (isMounted) close = drawMap(element, { shapes, colours: resolved, ground, onSelect: setSelected });
      })
      .catch(() => setProblem('This browser cannot draw the map, because it has no WebGL.'));
    return () => {
      isMounted = false;
      close();
    };
  }, [shapes, colours]);
  if (shapes.length === 0) return <p>There is no shape with coordinates to show on a map.</p>;
  const groups = [...colours].filter(([group]) => group !== '');
  const shape = selected === undefined ? undefined : shapes[selected];
  return (
    <figure className={styles.figure} aria-label={label}>
      {problem !== undefined && <Notice kind="warning">{problem}</Notice>}
      <div ref={host} className={styles.map} />
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
      <div aria-live="polite">{shape && <Properties shape={shape} />}</div>
      {dropped > 0 && <p className={styles.soft}>{dropped} shapes have no usable coordinates.</p>}
    </figure>
  );
}

function Properties({ shape }: { shape: MapShape }) {
  return (
    <dl className={styles.properties}>
      {Object.entries(shape.properties).map(([name, value]) => (
        <div key={name}>
          <dt>{escapeInvisible(name)}</dt>
          <dd>
            <bdi>{formatCell(value)}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}
