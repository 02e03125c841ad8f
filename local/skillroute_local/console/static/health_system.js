// The part of Health about the machine: models, migrations, versions, space on disks.
import { h, plural, redraw } from "./dom.js";
import { bytes, stateOf, stateWithHelp, table, words } from "./health_parts.js";

const KINDS = { database: "Database files", index: "Index", models: "Models", history: "History", logs: "Logs", other: "Other files" };

/** Draw the sections that an answer of `health/system` is about into their places. */
export function drawSystem(places, system) {
  const { models, migrations, versions, disk } = system;
  redraw(places.models, models, () => models && (models.problem ? stateWithHelp(models.state) : [
    table("Models", [{ name: "For", isHead: true }, "Model", "Dimension", "Runs", "State"], models.rows.map((row) => [
      row.job, row.name ?? "–", row.dimension ?? "–", row.where || "–", stateWithHelp(row.state)])),
    h("p", { class: "muted" }, "As the settings of the process that serves this page name them.")]));
  redraw(places.migrations, migrations, () => migrations && (migrations.problem ? stateWithHelp(migrations.state) : drawMigrations(migrations)));
  redraw(places.versions, versions, () => [
    table("Versions", [{ name: "Of", isHead: true }, "Version"], versions.rows),
    versions.state.kind !== "ok" && stateWithHelp(versions.state)]);
  redraw(places.disk, [disk && { ...disk, free: bytes(disk.free ?? 0) }, system.database_bytes], () => drawDisk(disk, system.database_bytes));
}

function drawMigrations({ applied, latest, waiting, optional, unknown, state }) {
  return [
    h("p", {}, stateOf(state), `, ${plural(applied, "migration")} applied`, latest && [", the latest ", h("code", {}, latest)], "."),
    state.help && h("p", {}, words(state.help)),
    waiting.length > 0 && h("p", {}, "Waiting: ", waiting.join(", "), "."),
    unknown.length > 0 && h("p", {}, "Not known to this version: ", unknown.join(", "), "."),
    optional.length > 0 && h("p", { class: "muted" }, h("span", { class: "state off" }, "optional"), ` ${optional.join(", ")}: needs pgvector on the server, then `,
      h("code", {}, "skillroute migrate"), "; without it there is no search inside PostgreSQL.")];
}

function drawDisk(disk, ofDatabase) {
  const database = ofDatabase !== undefined && h("p", {}, `PostgreSQL says that the database takes ${bytes(ofDatabase)}.`);
  if (!disk) return database || null;
  if (disk.problem) return [stateWithHelp(disk.state), database];
  const all = Object.values(disk.sizes).reduce((total, size) => total + size, 0);
  return [
    h("p", {}, stateOf(disk.state), `: ${bytes(disk.free)} of ${bytes(disk.total)} are free on the volume.`),
    disk.state.help && h("p", {}, words(disk.state.help)),
    table("Size of SKILLROUTE_HOME", [{ name: "In SKILLROUTE_HOME", isHead: true }, { name: "Size", num: true }],
      [...Object.entries(disk.sizes).filter(([, size]) => size > 0).map(([name, size]) => [KINDS[name] ?? name, bytes(size)]), ["In all", bytes(all)]]),
    database,
    disk.unread > 0 && h("p", { class: "muted" }, `Not counted, as they cannot be read: ${plural(disk.unread, "file")}.`)];
}
