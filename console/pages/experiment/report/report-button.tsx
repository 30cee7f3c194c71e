import { useRef } from 'react';
import { Button } from '../../../ui/button.tsx';
import { saveFile } from '../../../ui/content/save-file.ts';
import { openFolds } from '../evidence/evidence.tsx';
import { formatReport } from './format-report.ts';

/** A picture is drawn when its width is known, a few frames after its part of the page has opened. */
const FRAMES_MAX = 60;

/** Saves the page around it, up to the element with `data-report`, as one HTML file with all parts open. */
export function ReportButton({ title, file }: { title: string; file: string }) {
  const anchor = useRef<HTMLSpanElement>(null);
  const save = async () => {
    const page = anchor.current?.closest('[data-report]');
    if (!page) return;
    const folds = openFolds(page);
    for (let frame = 0; frame < FRAMES_MAX && page.querySelector('[data-undrawn]'); frame += 1)
      await new Promise(requestAnimationFrame);
    const html = formatReport(page, { title, address: location.href });
    for (const fold of folds) fold.open = false;
    saveFile(`${file}.html`, html, 'text/html');
  };
  return (
    <span ref={anchor}>
      <Button kind="quiet" onPress={save}>
        Report
      </Button>
    </span>
  );
}
