"""The words that languages in Latin letters are told by: small ones, and those that requests to tools are made of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

_SMALL_WORDS = """
en: the of to and in for is on that with i you it my me this from are be what how can please have do at by an which
  find get show all new if or not when there their was will would about into your we send create list search
de: der die das und ist nicht ein eine einen einer ich wie mit für auf den dem des zu von im mir wir sind alle meine
  meinen bitte nach aus über werden kann wird zum zur
fr: le la les des une et est dans pour que qui je vous nous avec sur du au aux un mon ma mes ce cette quel quelle
  quels comment sont pas ou moi toutes tous par
es: el la los las una es para que con del al un mi mis cómo como por en qué cuál está quiero todos todas este esta de
  sobre necesito desde
pt: os uma para que com do da dos das em um meu minha por como não na no quais qual você quero todos todas de sobre
  preciso
it: il lo la gli le una per che con del della di un mio mia sono non nel nella quali tutti tutte dei delle al alla
  voglio mi da
nl: het een en van voor met op mijn hoe zijn niet dat te naar wat alle de aan bij kan ik
sv: och att det som är för med till den inte jag hur vad mina alla ett från mitt min
pl: jest nie się jak dla mój moje moja mnie wszystkie czy co jaka jaki
tr: bir ve için bu ile nasıl nedir benim var bana olan tüm
id: yang dan untuk dengan dari ini saya semua bagaimana apa
"""
"""Of English the commonest; of the others without words that English has, too. One of them alone says nothing."""

_REQUEST_WORDS = """
en: add all answer are call change check close convert cost count day delete does download every file fix generate
  give has help import information into know latest list load look make move name near need open pay play post price
  read remove run save say see set share should start stop summarize tell test than them they time today tomorrow top
  translate translation turn update upload used user using want watch weather week where who why without word words
  work write yesterday account book booking command customer event flight food game invoice issue language meeting
  movie news number order phrase sentence song stock task tool tools trip view
de: senden schick* verschick* erstell* suche suchen finde lösch* übersetz* zeige zeig anzeig* buchen buche
  herunterlad* hochlad* anleg* zusammenfass* abfrag* öffn* eröffn* umrechn* umwandel* stornier* auflist* plane planen
  freigeb* aktualisier* hinzufüg* bearbeit* ändern ändere lesen speicher* abruf* holen teile teilen prüf* schreib*
  berechn* überweis* bezahl* bestell* vergleich* einlad* antwort* lade wetter* rechnung* flug flüge flügen datei*
  termin termine terminen terminkalender aufgabe* bild bilder nachricht* dokumente aktienkurs* kalender* währung*
  verzeichnis* besprechung* ordner* änderung* datenbank* kunde kunden kundin* heute morgen gestern neue neuen neuer
  neues letzte letzten wieviel welche welcher preis preise nähe straße konto zug züge benutzer* mitarbeiter* woche
  monat gerade stadt uhrzeit spät rechnungen vorhersage nutzer hilfe zwischen einkaufsliste kaufen artikelnummer
fr: envoyer envoie envoyez créer crée créez cherch* recherche* supprim* effac* traduire traduis traduisez réserv*
  affich* télécharg* résum* ajoute ajouter convertir convertis ouvrir ouvre trouver trouve planifi* partag* modifier
  modifie lire montre montrer donne donner mettre obtenir calculer calcule vérifi* annul* lister écri* enregistr*
  acheter répon* payer courriel* météo* tâche* vol vols fichier* texte textes hôtel* rendez facture* bourse dernière*
  nouvelle nouvelles nouveau* clients temps demain hier itinéraire* réunion* dossier commande calendrier* aujourd prix
  adresse* tous semaine mois quelles combien client utilisateur* traduction* horaire* billet* près données base jour
  paiement* photo recette* chanson* ville cours euros euro
es: enviar envía envia envíe mandar crear crea buscar busca encontrar borrar borra eliminar elimina traduc* mostrar
  muestra muéstr* convertir reservar reserva descarg* añad* agrega* resume resumir resumen abrir abre publicar listar
  actualiz* cancelar pagar paga subir sube ver leer lee programar obtener consultar guardar escrib* compartir
  modificar calcular comprar dame muéstrame responder ejecutar correo* factura* tiempo vuelo* texto textos archivo*
  reunión reuniones mañana hoy ayer tarea* noticia* contacto contactos documento documentos incidencia* precio*
  acciones mensaje* repositorios pronóstico pedido* hotel hoteles cuenta* cliente* nuevo nueva nuevos nuevas últim*
  usuario* calendario* carpeta* imagen imágenes datos clima cerca ciudad semana mesa gasto* euros dólar* cita citas
  dirección canción tabla ruta evento*
pt: enviar envie envia mandar criar crie cria buscar busque procurar procure apagar apague excluir exclua traduz*
  mostrar mostre converter converta reservar reserve baixar baixe adicion* resumir resuma abrir abra publicar listar
  liste atualiz* cancelar cancele pagar ler leia agendar agende obter consultar salvar escrev* compartilh* partilh*
  calcular comprar responder pesquis* encontr* tarefa* previsão previsões tempo voo* arquivo* ficheiro* reunião
  reuniões amanhã hoje ontem fatura* imagem imagens contato* documento* notícia* últim* cliente* moeda* banco pedido*
  chamado* mensage* equipe agenda cotação dólar pasta restaurante* projeto* novo nova novos conta contas preço*
  usuári* dados clima perto cidade semana texto textos mesa rota rotas evento* endereço música tabela hotel
it: inviare invia mandare crea creare cercare cerca trova trovare eliminare elimina cancellare cancella tradurre
  traduci traduzione mostra mostrare prenot* scaric* riassum* aggiung* aggiorn* annull* aprire apri convertire
  converti condivid* leggere leggi pianific* visualizz* caricare calcol* scriv* salvare modificare modifica compra*
  paga pagare rispond* ottenere fattur* meteo volo voli testo testi riunion* domani oggi ieri appuntament* albergo
  alberghi immagin* ultimo ultima ultimi ultime notizie notizia documento documenti contatt* elenco elenchi clienti
  cliente valuta ordine ordini messaggi* gruppo tempo prezz* azioni cartell* ristorant* nuov* progett* posta
  calendario utent* file attività vicino città settimana mese dati conto ricett* quanto quale indirizzo canzon*
nl: sturen stuur verstuur* maak maken zoek zoeken vind vinden verwijder* vertaal vertalen toon tonen boek boeken
  download downloaden samenvat* toevoeg* bekijk* omreken* bijwerk* annuleer annuleren delen deel aanmaak* aanmaken
  lezen lees betaal betalen plannen geef open openen opslaan schrijf schrijven wijzig* bereken* haal ophalen kopen
  weer weerbericht* factuur facturen vlucht* bestand* tekst* afspra* taak taken hotel afbeelding* laatste nieuws
  document nieuw nieuwe klant* bestelling* valuta databank* bericht* agenda vandaag morgen gisteren buurt rekening*
  prijs prijzen gebruiker* map laat week maand adres* gegevens vergadering* mappen stad lijst project kaartje* trein*
sv: skapa skapar skicka skickar sök söka hitta hämta visa visar boka översätt* lägg ladda bort uppdatera läs läsa
  sammanfatta avboka dela betala öppna skriv räkna faktura* mejl vädret väder flyg filen filer filerna texten möte
  mötet uppgift* bilden bilder imorgon idag igår kalender* kund* senaste nyheter* nya mapp mappen meddelande*
  beställning*
pl: wyślij* utwórz* szukaj* znajdź* wyszukaj* usuń* przetłumacz* pokaż* zarezerwuj* pobierz* dodaj* otwórz* zapłać*
  streść* zaktualizuj* wyświetl* sprawdź* anuluj* udostępnij* pogod* faktur* lot loty lotów plik pliki plików
  spotkani* jutro dzisiaj dziś zadani* obraz* wiadomo* kalendarz* klient* zamówieni* nowy nowa nowe ostatni* tekst
tr: gönder* oluştur* bul ara arat sil çevir* göster* indir* ekle aç listele* güncelle* paylaş* iptal öde özetle*
  kaydet* oku yap hava durumu fatura* uçuş* dosya* metin metni toplantı* yarın bugün dün görev* otel resim resmi
  mesaj* takvim* müşteri* sipariş* yeni haber* posta rezervasyon* hesap* fiyat*
id: kirim* buat* cari* hapus* terjemah* tampilkan* pesan* unduh* tambah* buka simpan* ubah* perbarui* ringkas* bayar*
  bagikan* cuaca* faktur* penerbangan* berkas* teks rapat besok kemarin tugas gambar* kalender pelanggan* terbaru
  berita* baru hari harga*
"""
"""A word, or with an asterisk how words begin. Those that English has, too, count only where no English word is."""

_ALSO_ENGLISH = """
adres agenda ara artist banco baru base bild boek bul busca café cafés calcular client clients commande commander
compra contact conto converta converter convertir cours crea cria crie dame data deel document donne dossier download
dun euro euros event file filen filer files gruppo haal hava hotel image jour kalender laat lade land lee lees liste
lot map mapp mes mesa modifica modifier nouvelle nova oku open otel paga pasta payer photo plane posta prix project
publicar rapat recherche reserve responder restaurant resume rota résumé résumés sera sil tabla taken teile tekst
tempo temps termin termine texte toon trouve valuta ver ville vind visa vol volo week weer yap
"""


def _table(text: str) -> Mapping[str, frozenset[str]]:
    listed = (each.partition(":") for each in re.sub(r"\n +", " ", text).strip().splitlines())
    return {language: frozenset(words.split()) for language, _, words in listed}


def _languages_of_words(table: Mapping[str, frozenset[str]]) -> Mapping[str, tuple[str, ...]]:
    languages: dict[str, tuple[str, ...]] = {}
    for language, words in table.items():
        for word in sorted(words):
            languages[word] = (*languages.get(word, ()), language)
    return MappingProxyType(languages)


_SMALL, _OF_REQUESTS = _table(_SMALL_WORDS), _table(_REQUEST_WORDS)

ENGLISH_SMALL = _SMALL["en"]
ENGLISH = ENGLISH_SMALL | _OF_REQUESTS["en"]
"""Words that are read as English ones, unless a language has them, too."""

SMALL = MappingProxyType({language: words for language, words in _SMALL.items() if language != "en"})
"""Of each other language its small words."""

OF_REQUESTS = _languages_of_words({language: words for language, words in _OF_REQUESTS.items() if language != "en"})
"""The languages of a word of requests; of the beginning of one, with an asterisk behind it."""

ALSO_ENGLISH = frozenset(_ALSO_ENGLISH.split())
"""Of these words those that are English as well, or names in English requests."""
