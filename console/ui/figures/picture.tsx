import type { KeyboardEventHandler, ReactNode } from 'react';
import figure from './figure.module.css';

interface PictureProps {
  /** In pixels. */
  width: number;
  height: number;
  /** Says what the picture shows. */
  label: string;
  /** For a picture whose elements get the focus: a group of links. Any other is one image for assistive technology. */
  onKeyDown?: KeyboardEventHandler<SVGSVGElement> | undefined;
  children: ReactNode;
}

/** The picture of a figure: an SVG whose units are pixels. */
export function Picture({ width, height, label, onKeyDown, children }: PictureProps) {
  return (
    <svg
      className={figure.picture}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role={onKeyDown ? 'group' : 'img'}
      aria-label={label}
      onKeyDown={onKeyDown}
    >
      {children}
    </svg>
  );
}
