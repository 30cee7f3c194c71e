import { Icon } from '@switchyard/design/icon.tsx';
import { lazy, Suspense, useEffect, useState } from 'react';
import { isTextTarget } from '../ui/keyboard/text-target.ts';
import styles from './overlays.module.css';

const CommandPalette = lazy(async () => ({
  default: (await import('./command-palette.tsx')).CommandPalette,
}));
const KeyboardMap = lazy(async () => ({ default: (await import('./keyboard-map.tsx')).KeyboardMap }));

type Overlay = 'palette' | 'keys';

/** Returns the overlay that a key opens. A key in a field is text, except ctrl+K. */
function readOverlayKey(event: KeyboardEvent): Overlay | undefined {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') return 'palette';
  return event.key === '?' && !isTextTarget(event) ? 'keys' : undefined;
}

/** The command palette and the keyboard map, which load when they are first opened, with the button of the palette. */
export function Overlays() {
  const [overlay, setOverlay] = useState<Overlay>();
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      const found = readOverlayKey(event);
      if (!found) return;
      event.preventDefault();
      setOverlay(found);
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  const close = () => setOverlay(undefined);
  return (
    <>
      <button type="button" className={styles.jump} onClick={() => setOverlay('palette')}>
        <Icon name="search" />
        <span>Search or jump</span>
        <kbd>Ctrl K</kbd>
      </button>
      <Suspense fallback={null}>
        {overlay === 'palette' && <CommandPalette onClose={close} onShowKeys={() => setOverlay('keys')} />}
        {overlay === 'keys' && <KeyboardMap onClose={close} />}
      </Suspense>
    </>
  );
}
