/**
 * Divide a rectangle into tiles whose areas are as the sizes, each as near to a square as can be (Bruls, Huizing and
 * van Wijk, "Squarified Treemaps", 2000).
 * @param {{size: number}[]} items the largest first, sizes above 0
 * @param {{x: number, y: number, width: number, height: number}} room
 * @returns {{item: object, x: number, y: number, width: number, height: number}[]}
 */
export function squarify(items, room) {
  const total = items.reduce((sum, { size }) => sum + size, 0);
  if (!total || room.width <= 0 || room.height <= 0) return [];
  const scale = (room.width * room.height) / total;
  const tiles = [];
  let rest = { ...room };
  let row = [];
  for (const item of items) {
    const one = { item, area: item.size * scale };
    const side = Math.min(rest.width, rest.height);
    if (row.length && worst([...row, one], side) > worst(row, side)) {
      rest = settle(row, rest, tiles);
      row = [];
    }
    row.push(one);
  }
  settle(row, rest, tiles);
  return tiles;
}

/** The aspect ratio of the row's least square tile. */
function worst(row, side) {
  const sum = areaOf(row);
  const areas = row.map(({ area }) => area);
  return Math.max((side ** 2 * Math.max(...areas)) / sum ** 2, sum ** 2 / (side ** 2 * Math.min(...areas)));
}

/** Put a row along the shorter side; what is left is returned. */
function settle(row, { x, y, width, height }, tiles) {
  const isUpright = width >= height;
  const thickness = areaOf(row) / (isUpright ? height : width);
  let along = isUpright ? y : x;
  for (const { item, area } of row) {
    const length = area / thickness;
    tiles.push(isUpright ? { item, x, y: along, width: thickness, height: length } : { item, x: along, y, width: length, height: thickness });
    along += length;
  }
  return isUpright ? { x: x + thickness, y, width: width - thickness, height } : { x, y: y + thickness, width, height: height - thickness };
}

function areaOf(row) {
  return row.reduce((sum, { area }) => sum + area, 0);
}
