"""Words that the generator makes tools, skills and queries of. All of them made up for this purpose."""

from __future__ import annotations

from skillroute.skills.model import NewSkill


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


# 25 domains with 10 objects each.
DOMAINS: dict[str, tuple[str, ...]] = {
    "calendar": _words(
        "event, meeting, reminder, invitation, time slot, room booking, agenda, holiday, recurring series, availability"
    ),
    "email": _words(
        "message, draft, attachment, mail thread, folder, filter rule, signature, contact group, newsletter, auto reply"
    ),
    "chat": _words(
        "channel, direct message, reaction, mention, poll, status, pinned note, bot command, conversation, notification"
    ),
    "source_control": _words(
        "repository, branch, commit, pull request, code review, merge conflict, tag, release note, webhook, fork"
    ),
    "issue_tracking": _words(
        "issue, bug report, sprint, milestone, epic, label, backlog, assignee, estimate, workflow state"
    ),
    "deployment": _words(
        "build, pipeline, container image, environment, rollout, rollback, feature flag, secret, artifact, health check"
    ),
    "cloud": _words(
        "virtual machine, storage bucket, load balancer, database instance, firewall rule, snapshot, cluster node, "
        "dns record, access key, quota"
    ),
    "monitoring": _words(
        "alert, metric, log stream, dashboard, trace, incident, on-call shift, uptime check, error budget, anomaly"
    ),
    "database": _words("table, query, index, schema, row, backup, migration, view, stored procedure, connection"),
    "spreadsheets": _words(
        "worksheet, cell range, formula, chart, pivot table, column, named range, filter view, data validation, macro"
    ),
    "documents": _words(
        "document, paragraph, comment, revision, template, table of contents, footnote, heading, bookmark, shared link"
    ),
    "payments": _words("invoice, refund, subscription, payout, card, dispute, payment link, tax rate, coupon, balance"),
    "accounting": _words(
        "journal entry, ledger, expense claim, bank statement, budget, purchase order, tax return, depreciation, "
        "vendor bill, cash flow"
    ),
    "crm": _words(
        "lead, deal, account, opportunity, call note, sales quote, pipeline stage, customer segment, follow-up, "
        "contract"
    ),
    "ecommerce": _words(
        "product, order, shopping cart, shipment, return, review, inventory level, discount, category, warehouse"
    ),
    "travel": _words(
        "flight, hotel room, rental car, train ticket, itinerary, boarding pass, visa, luggage, seat, airport transfer"
    ),
    "weather": _words(
        "forecast, temperature, storm warning, air quality, rainfall, wind speed, uv index, tide, pollen count, snow "
        "depth"
    ),
    "maps": _words(
        "route, address, place, traffic report, distance, elevation, parking spot, postcode, geofence, landmark"
    ),
    "finance": _words(
        "stock quote, portfolio, exchange rate, earnings report, dividend, option chain, price history, watchlist, "
        "bond yield, crypto wallet"
    ),
    "health": _words(
        "appointment, prescription, lab result, medication, symptom, vaccination, blood pressure, workout, meal plan, "
        "sleep record"
    ),
    "music": _words(
        "playlist, song, album, artist, concert, lyrics, radio station, podcast episode, audio track, genre"
    ),
    "media": _words(
        "image, video, thumbnail, caption, subtitle, photo album, watermark, colour palette, animation, screenshot"
    ),
    "smart_home": _words(
        "light, thermostat, door lock, camera, scene, motion sensor, vacuum cleaner, energy meter, garage door, smoke "
        "detector"
    ),
    "learning": _words("course, lesson, quiz, flashcard, student, grade, assignment, certificate, lecture, textbook"),
    "research": _words(
        "paper, citation, dataset, experiment, abstract, author, journal, hypothesis, patent, bibliography"
    ),
}

# Four kinds of doing, with four verbs each: domain and kind make one of 100 skills.
ACTIONS: dict[str, tuple[str, ...]] = {
    "lookup": _words("get, list, search, find"),
    "editing": _words("create, update, delete, rename"),
    "analysis": _words("summarize, compare, count, validate"),
    "exchange": _words("export, import, share, schedule"),
}

MAKERS = _words(
    "acme, northwind, bluebird, quanta, fernhill, oakline, zephyr, lumen, kestrel, harbor, pinecone9, solstice, "
    "granite, velo, marlin, copperfield, orbit, tundra, saffron, willow, ember, juniper, cobalt, meridian, halcyon, "
    "brightside, nimbus4, redwood, summit, cascade"
)

DETAILS = (
    "Returns the matching entries with their identifiers and the time of the last change.",
    "Fails when the caller lacks the permission for it.",
    "Large results are split into pages; pass the cursor of the last answer to go on.",
    "Changes take effect at once and are written to the audit log.",
    "Use this before any other operation on the same object.",
    "Dates are ISO 8601 in the time zone of the workspace.",
    "Only objects that are not archived are considered.",
    "Supports partial names and wildcards.",
    "The answer holds a link that expires after a day.",
    "Runs in the background; the answer names the job to ask for.",
)

# Arguments: name, JSON type, what it says about itself.
ARGUMENTS = (
    ("id", "string", "Identifier of the {object}."),
    ("query", "string", "Words to look for in the {object}."),
    ("limit", "integer", "How many entries to return at most."),
    ("cursor", "string", "Where to go on, from the answer before."),
    ("start_date", "string", "First day to consider, as ISO 8601."),
    ("end_date", "string", "Last day to consider, as ISO 8601."),
    ("fields", "array", "Fields of the {object} to include in the answer."),
    ("owner", "string", "Who the {object} belongs to."),
    ("status", "string", "Only those in this state."),
    ("sort_by", "string", "Field to sort by."),
    ("dry_run", "boolean", "Only tell what would happen."),
    ("notify", "boolean", "Tell everybody concerned."),
    ("title", "string", "Title of the {object}."),
    ("notes", "string", "Anything worth knowing about the {object}."),
    ("tags", "array", "Words to file the {object} under."),
    ("timezone", "string", "Name of the time zone, such as Europe/Berlin."),
)

PEOPLE = _words("Ana, Ben, Chidi, Dana, Emre, Fatima, Goro, Hana, Ivan, June, Kofi, Lena, Mateo, Nina, Omar, Priya")
TIMES = _words("today, tomorrow, this week, next month, since Monday, before noon, for the last quarter, by Friday")
ASKS = (
    "{verb} the {object} for {person} {time}",
    "can you {verb} {person}'s {object} {time}, number {number}",
    "I need to {verb} a {object} about case {number} {time}",
    "{person} asks to {verb} every {object} of project {number}",
    "please {verb} {object} {number} and tell {person}",
    "how do I {verb} the {domain} {object} {time} for {person}, ref {number}",
)


def skills() -> list[NewSkill]:
    """Return the 100 skills: each domain with each kind of doing."""
    return [
        NewSkill(
            id=f"{domain}_{kind}",
            name=f"{domain.replace('_', ' ').title()}: {kind}",
            description=f"{', '.join(verbs)} things of {domain.replace('_', ' ')}: {', '.join(objects)}.",
            keywords=tuple(verbs),
        )
        for domain, objects in DOMAINS.items()
        for kind, verbs in ACTIONS.items()
    ]
