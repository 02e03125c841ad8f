"""How much a word says, by how common it is in English texts at large: the document frequencies of BM25.

Not counted in the messages that are searched: whoever may read few of them would learn from the order of those what the
others say, and each message that comes or goes between two pages would move the others (docs/adr/0020).

Counted in 47,495 short texts: descriptions of tools, questions about them, and paragraphs of Python's own
documentation. The figures are how many of 10,000 texts have the word.
"""

from __future__ import annotations

import math

_TEXTS = 10_000
_UNKNOWN = 10  # a word that is not in the table is in fewer than 20

_TABLE = """
the:6553 of:3837 a:3530 to:3452 for:2974 in:2183 and:2143 you:1656 is:1494 i:1411 can:1322 with:1202 e:1197
g:1173 that:975 be:929 on:920 me:900 retrieve:830 if:792 or:787 an:770 this:764 which:717 from:711
information:681 want:665 by:604 as:601 my:597 are:576 it:575 name:558 return:496 s:487 about:467 need:462
specific:460 data:451 get:432 new:406 m:401 find:398 help:366 any:360 list:354 number:351 provide:350 not:348
please:337 file:336 all:324 id:320 will:314 at:307 type:306 default:281 time:280 like:279 used:278 given:267
current:266 some:265 have:261 what:261 set:260 object:252 create:252 location:251 using:250 text:242 how:237
user:229 string:226 value:224 could:222 returns:219 should:218 use:215 specified:205 class:205 there:204
would:203 calculate:202 true:201 unique:201 when:200 function:199 where:189 search:186 then:182 method:180
such:179 identifier:179 one:178 its:173 date:169 into:168 only:166 has:166 check:164 first:162 including:161
based:161 format:159 city:156 your:155 none:152 code:151 finally:151 path:150 year:149 after:148 level:146
also:144 specify:144 called:143 specifically:139 optional:139 content:139 no:138 do:137 details:136
available:134 their:133 read:133 line:132 game:132 york:132 project:132 system:131 event:131 looking:130
python:128 more:128 but:127 module:125 website:123 instance:121 may:121 know:120 detailed:120 each:119 up:118
server:118 message:117 must:116 generate:116 test:115 two:112 command:111 was:110 add:110 argument:109 make:109
call:109 analyze:108 false:108 other:108 research:107 start:107 product:107 between:105 desired:105 so:104
process:104 am:103 email:102 country:102 values:101 last:101 address:101 image:101 options:100 example:100
order:97 analysis:97 assistance:96 status:95 within:95 state:95 returned:93 language:92 size:92 key:91 being:91
whether:91 arguments:90 library:90 same:89 access:88 most:87 source:87 design:87 out:87 related:86 interested:85
who:85 next:85 end:85 show:85 self:85 rate:84 include:84 request:84 tell:84 currently:83 been:83 latest:82
assist:82 input:82 widget:82 area:81 application:81 provided:81 url:81 version:81 update:81 item:81 model:80
see:80 target:80 give:79 named:79 non:77 names:77 we:76 base:76 results:76 files:76 these:75 high:74 period:73
mode:73 patient:73 sequence:73 bytes:72 range:72 result:72 case:72 additionally:72 different:71 context:71
error:71 objects:71 united:71 run:71 per:70 during:70 through:70 convert:70 mm:70 total:69 does:69 support:68
book:68 write:68 required:68 output:68 media:68 tuple:67 otherwise:67 response:66 methods:66 sales:66
platform:66 states:66 them:65 users:65 index:65 network:65 before:65 group:65 second:65 video:65 page:65
exception:65 recent:64 note:64 performance:64 provides:64 price:64 way:64 policy:64 various:63 company:63
header:63 years:63 music:63 args:63 service:63 open:63 configuration:62 change:62 character:62 empty:62 field:61
delete:61 either:61 yyyy:61 directory:60 match:60 they:60 package:60 defaults:60 social:59 report:59 found:59
customer:59 recommend:59 app:59 temperature:59 document:58 operation:58 than:58 without:58 events:57
comprehensive:57 marketing:57 both:56 potential:56 raise:56 meters:56 database:56 keyword:56 dd:56 our:56
lastly:56 tool:56 top:56 age:55 api:55 containing:55 team:55 title:55 characters:55 quality:54 over:54 space:54
fetch:54 well:53 position:53 single:53 month:53 day:53 created:53 health:53 filter:53 car:52 copy:52
dictionary:52 public:52 description:52 suggest:52 possible:52 option:52 device:52 weather:51 attributes:51
amount:51 organization:51 passed:51 hey:51 lines:51 strings:51 duration:51 right:51 popular:50 campaign:50
following:50 integer:50 learning:50 english:49 planning:49 color:49 parameter:49 raised:49 recommendations:48
style:48 services:48 creating:48 existing:48 query:48 best:48 count:48 place:48 defined:48 play:48 work:48
maximum:48 associated:48 additional:48 online:48 another:48 energy:48 send:47 business:47 connection:47
length:47 items:47 word:47 types:47 located:47 attribute:47 standard:47 account:47 instead:46 encoding:46
speed:46 just:46 relevant:46 news:46 element:46 height:45 import:45 environment:45 interface:45 los:45
multiple:45 filename:45 future:45 record:45 functions:45 virtual:45 turtle:45 hi:44 ai:44 angeles:44 mapping:44
tasks:44 web:44 history:44 point:44 generated:44 window:44 species:43 full:43 made:43 individual:43 region:43
job:43 needs:43 task:43 perform:43 flag:43 form:43 movie:43 stream:43 statistics:43 display:42 average:42
software:42 technology:42 main:42 distance:42 parameters:42 food:42 protocol:42 once:42 education:42 sample:42
com:42 calls:42 management:41 control:41 structure:41 development:41 implementation:41 decimal:41 good:41
parse:41 unit:41 rfc:41 vehicle:41 determine:40 py:40 http:40 frame:40 london:40 block:40 now:40 topic:40
variable:40 local:40 real:40 google:40 long:40 player:40 always:40 mobile:40 population:40 width:40 today:39
chart:39 images:39 person:39 tree:39 sys:39 seconds:39 part:39 changes:38 security:38 brand:38 take:38 map:38
coordinates:38 store:37 running:37 html:37 dict:37 old:37 suggestions:37 week:37 features:37 retrieves:37
plan:37 track:37 digital:37 contains:37 effectively:37 days:37 experience:37 representation:37 budget:37
keywords:37 child:37 stock:37 particular:37 post:37 while:36 starting:36 remove:36 token:36 complete:36 trip:36
updated:36 writing:36 human:36 node:36 elements:36 added:36 market:36 cloud:36 summary:36 reading:35 interest:35
numbers:35 matches:35 building:35 ip:35 close:35 finding:35 usage:35 pdf:35 str:35 suitable:35 audio:35
custom:35 handle:35 valid:35 san:35 written:35 needed:35 table:35 upcoming:34 don:34 historical:34 conditions:34
distribution:34 link:34 entry:34 host:34 resource:34 cases:34 classes:34 program:34 category:34 were:34
restaurant:34 dataset:34 print:34 until:33 past:33 travel:33 initial:33 insights:33 gather:33 internal:33
common:33 robot:33 activity:33 points:33 children:33 score:33 regarding:33 parent:33 improve:32 providing:32
present:32 water:32 memory:32 special:32 paris:32 action:32 abc:32 activities:32 members:32 resources:32
compare:32 words:32 room:32 int:32 daily:31 variables:31 working:31 sets:31 raises:31 subclass:31 parser:31
updates:31 healthcare:31 root:31 life:31 windows:31 encoded:31 included:31 allows:31 japan:31 os:31 gender:30
documentation:30 articles:30 article:30 hotel:30 employee:30 plugin:30 engine:30 john:30 hello:30 necessary:30
settings:30 translate:30 us:30 minutes:30 qr:30 corresponding:29 uses:29 keys:29 errors:29 pattern:29 impact:29
square:29 purchase:29 friendly:29 global:29 forecast:29 insurance:29 xml:29 criteria:29 strategies:29 body:29
genre:29 info:29 traffic:29 ensure:29 matching:29 tests:29 thread:29 ideas:29 home:29 many:29 industry:29
session:29 recipe:29 weight:29 here:29 free:29 extract:29 theme:29 component:29 whose:29 handler:29 card:28
includes:28 tips:28 world:28 tag:28 frequency:28 power:28 headers:28 etc:28 section:28 those:28 automatically:28
schedule:28 trends:28 watch:28 doesn:28 skills:28 something:28 build:28 step:28 animal:28 tools:28 already:28
codec:28 ve:28 hours:28 supports:28 investment:28 park:28 manager:28 ascii:28 mcp:28 left:27 replace:27
password:27 cannot:27 done:27 guide:27 setting:27 ca:27 except:27 active:27 across:27 load:27 low:27 optimize:27
cost:27 according:27 useful:27 socket:27 curious:26 requests:26 contain:26 loop:26 instructions:26 playing:26
modules:26 instances:26 property:26 guidance:26 audience:26 binary:26 projects:26 rating:26 chatbot:26
statement:26 times:26 spanish:26 fashion:25 authentication:25 financial:25 visually:25 font:25 blog:25 domain:25
json:25 requested:25 international:25 minimum:25 simple:25 profile:25 francisco:25 callable:25 explore:25
every:25 properties:25 port:25 calling:25 zero:25 learn:25 art:25 sure:25 availability:25 study:25
destination:25 under:25 directories:25 progress:25 original:25 metadata:25 growth:24 look:24 menu:24 monthly:24
log:24 shows:24 apply:24 risk:24 highly:24 certain:24 manage:24 medical:24 clinical:24 txt:24 buffer:24
enhance:24 requirements:24 personal:24 random:24 much:24 records:24 examples:24 representing:24 pass:24
contact:24 release:24 preferred:24 view:24 wait:24 production:24 profit:24 move:24 button:24 screen:24 least:24
formatted:24 tk:24 making:24 off:24 selected:24 condition:24 climate:24 law:24 indicating:24 valueerror:24
products:23 professional:23 save:23 preferably:23 estimate:23 directly:23 machine:23 abstract:23 flight:23
member:23 previous:23 identify:23 family:23 environmental:23 french:23 construction:23 positive:23 techniques:23
allow:23 fields:23 via:23 march:23 final:23 since:23 stop:23 limit:23 annual:23 volume:23 seo:23 received:23
locate:23 selection:23 picture:23 site:23 collection:23 transfer:23 dna:23 contents:23 execute:23 namespace:23
appropriate:22 love:22 even:22 messages:22 script:22 safety:22 clear:22 ads:22 sent:22 air:22 engaging:22
understand:22 feature:22 trying:22 germany:22 expected:22 regular:22 performed:22 algorithm:22 important:22
client:22 behavior:22 extension:22 specifies:22 override:22 reviews:22 movies:22 stack:22 timeout:22 male:22
constructor:22 okta:22 back:22 tickets:22 ethics:22 league:21 better:21 built:21 resolution:21 station:21
drug:21 preferences:21 chat:21 searching:21 sources:21 reality:21 community:21 australia:21 spaces:21 song:21
youtube:21 symbol:21 prefix:21 zia:21 let:21 transportation:21 airport:21 route:21 forest:21 disease:21 array:21
allowed:21 exists:21 whom:21 three:21 advice:21 try:21 re:21 entries:21 around:21 review:21 agent:21
background:21 coverage:21 template:21 indicates:21 queue:21 basic:21 entire:21 having:21 steps:21 metrics:21
medium:21 underlying:21 recommended:21 def:21 tokyo:21 private:21 relative:21 taken:20 share:20 gift:20
material:20 exist:20 side:20 sports:20 creates:20 config:20 unless:20 dialog:20 customers:20 pair:20 strategy:20
follow:20 visual:20 rules:20 tax:20 signal:20 retrieved:20 revenue:20 against:20 generator:20 overall:20
income:20 reference:20 conversation:20 conversion:20 published:20 degrees:20 gene:20 register:20
"""

_FREQUENCIES: dict[str, int] = {
    word: int(count) for word, _, count in (entry.partition(":") for entry in _TABLE.split())
}


def weight(term: str) -> float:
    """Return BM25's inverse document frequency of a term, in lower case: ``ln(1 + (N - n + 0.5) / (n + 0.5))``.

    Examples
    --------
    >>> round(weight("the"), 3), round(weight("approval"), 3)
    (0.423, 6.859)
    """
    frequency = _FREQUENCIES.get(term, _UNKNOWN)
    return math.log(1.0 + (_TEXTS - frequency + 0.5) / (frequency + 0.5))
