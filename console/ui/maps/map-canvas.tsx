import { useEffect, useRef, useState } from 'react';
import { useThemeVersion } from '../charts/theme-version.ts';
import { Notice } from '../notice.tsx';
import type { Camera, DrawnMap } from './draw-map.ts';
import { resolveColour } from './group-colours.ts';
import type { MapShape } from './read-geojson.ts';
import styles from './shape-map.module.css';

export interface MapCanvasProps {
  shapes: readonly MapShape[];
  /** The colour of each group, as CSS. */
  colours: ReadonlyMap<string, string>;
  /** The group that is not dimmed; undefined for all. */
  highlighted?: string | undefined;
  /** Gets the index of the pressed shape. */
  onSelect: (index: number | undefined) => void;
}

/** The drawing of a map, without legend. It follows the theme, and then still shows the same part of the earth. */
export function MapCanvas({ shapes, colours, highlighted, onSelect }: MapCanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const drawn = useRef<DrawnMap>(undefined);
  const last = useRef<{ shapes: readonly MapShape[]; camera: Camera }>(undefined);
  const highlight = useRef(highlighted);
  const select = useRef(onSelect);
  select.current = onSelect;
  const [problem, setProblem] = useState<string>();
  const theme = useThemeVersion();
  useEffect(() => {
    const element = host.current;
    let isMounted = true;
    if (!element) return;
    const resolve = (colour: string) => resolveColour(element, colour);
    const resolved = {
      groups: new Map([...colours].map(([group, one]) => [group, resolve(one)])),
      ground: resolve('var(--ground)'),
      ink: resolve('var(--ink)'),
    };
    const camera = last.current?.shapes === shapes ? last.current.camera : undefined;
    import('./draw-map.ts')
      .then(({ drawMap }) => {
        if (!isMounted) return;
        drawn.current = drawMap(element, {
          shapes,
          colours: resolved,
          camera,
          onSelect: (index) => select.current(index),
        });
        if (highlight.current !== undefined) drawn.current.highlight(highlight.current);
      })
      .catch(() => setProblem('This browser cannot draw the map, because it has no WebGL.'));
    return () => {
      isMounted = false;
      const seen = drawn.current?.close();
      if (seen) last.current = { shapes, camera: seen };
      drawn.current = undefined;
    };
  }, [shapes, colours, theme]);
  useEffect(() => {
    highlight.current = highlighted;
    drawn.current?.highlight(highlighted);
  }, [highlighted]);
  return (
    <>
      {problem !== undefined && <Notice kind="warning">{problem}</Notice>}
      <div ref={host} className={styles.map} />
    </>
  );
}
