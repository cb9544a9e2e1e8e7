"""The most frequent function words of the languages that PyStemmer has stems for: to recognise a language by.

Articles, prepositions, conjunctions, pronouns and forms of "to be" and "to have", 25 to 45 of each language, as the
tokenizer writes them: lower case, cut at apostrophes. Lists of similar length make their shares of a text comparable.
They are also the stop lists of these languages; English has a complete one in `stopwords.py`.
"""

from __future__ import annotations

from arcrank.text.splitting import split_lowered

__all__ = ["FUNCTION_WORDS"]

_LISTS = {
    "arabic": """
        في من على إلى أن عن مع هذا هذه التي الذي كان كانت ما لا لم قد أو ثم هو هي كل بعد قبل بين حتى إن لكن ذلك
        تلك عند غير أي وقد كما""",
    "armenian": """
        և է են եւ որ այս այդ այն մեջ համար հետ մի նա նրա իր նրանք բայց կամ ու էր էին եմ ես մենք ըստ մինչև դեպի
        ինչ որպես շատ պետք""",
    "basque": """
        eta da ez bat du dira zen zuen ere hau hori baina izan bere dute edo egin den duen dela dituen bai ziren
        beste batean artean behar oso nahi""",
    "catalan": """
        de la i el que a en els les un una per amb del al no es és s l d com més però o són seva aquest aquesta
        ha hi dels pel també va""",
    "czech": """
        a v se na je že s z do o to i ve pro k ale jako po by byl jsou které který která za od také však už jsem
        nebo bylo bude při""",
    "danish": """
        og i at er det en til af på som med for den de ikke der et var han har jeg fra vi om men sig blev også
        hun eller kan skal efter ved""",
    "dutch": """
        de het een van en in is dat op te zijn met voor niet die aan er ook als door bij maar om uit naar wordt
        werd dan nog over deze heeft hebben worden""",
    "english": """
        the of and to in a is that for it was on with as be at by this are from or an not have he they which his
        but has were had their its will been""",
    "esperanto": """
        la de kaj en estas al por ne kun kiu ke el per pri sed ankaŭ li mi ili ĝi ŝi oni estis kiel tiu kiuj ĉi
        ĉar aŭ sur""",
    "estonian": """
        ja on ei et ka see oli mis ning kui aga või oma ta selle kes olid mida nii tema siis veel välja pärast
        kuid need enam ma peale ole""",
    "finnish": """
        ja on ei että se oli hän myös mutta joka kun ovat tai sen jossa niin kuin jotka mukaan sekä olivat minä
        he tämä vain ole olla jos ollut""",
    "french": """
        de la le et les des en un une du l d que est pour qui dans par sur au pas plus ce il ne se sont avec ou
        son sa aux été cette mais""",
    "german": """
        der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus
        er hat dass sie nach wird bei einer um am""",
    "greek": """
        και το να του η της με που την από για τα είναι των σε ο οι στο θα τη στην τον τους δεν αυτό ότι μια ένα
        κατά στη""",
    "hindi": """
        के का में की है और से को पर ने यह कि एक हैं भी था इस हो नहीं जो तो ही कर थे थी साथ लिए वह अपने या""",
    "hungarian": """
        a az és hogy nem is egy ez azt meg volt de csak már mint ki még el vagy van ha ezt aki amely minden
        lehet után kell ők szerint""",
    "indonesian": """
        yang dan di dengan untuk dari ini itu dalam tidak pada adalah akan ke oleh juga atau sebagai bisa ada
        mereka telah karena kami saya dapat lebih seperti""",
    "irish": """
        an na agus ar a i is go ag le bhí tá sé do sin mar sa ach leis nach siad sí bhfuil seo gur faoi don
        chuig ón as""",
    "italian": """
        di e che la il un a per in è una sono con non del si da i le dei al alla della nel come più anche l ha
        gli o dal ma questo""",
    "lithuanian": """
        ir yra kad į su iš tai ne o kaip bet jis buvo nuo ar dėl per po prie apie už jo jų taip savo šio dar pat
        tik jau""",
    "nepali": """
        को र मा छ ले का लाई पनि यो एक भने हो गरेको हुन् गर्न त्यो थियो भएको छन् नै तर वा भन्ने लागि यस सबै तथा
        देखि सँग""",
    "norwegian": """
        og i det er på som en til av for med at de ikke den et har var jeg han fra om men vi seg ble også hun
        eller skal kan etter ved dette""",
    "persian": """
        و در به از که این را با است آن برای یک بر تا شد خود هم ما می هر یا شده او اما کرد بود های آنها دارد نیز""",
    "polish": """
        w i na z się do nie to jest że o od za po jak przez dla ale co oraz tym które który przy są jego był tak
        może już""",
    "portuguese": """
        de a o que e do da em um para com não uma os no se na por mais as dos como mas ao das à seu sua ou foi
        são pelo pela também""",
    "romanian": """
        de și în a la cu pe care nu un o că din este pentru mai au se al sau ca prin fi sunt după fost ale lui
        dar ce unei""",
    "russian": """
        и в не на что с по как это он из для а к у от но за его о же так все было они мы был ее также или""",
    "serbian": """
        и у је се на да за од су са као из који а о то не али или по која ће би i u je se na da za od su sa kao
        iz koji o to ne ali ili po koja će bi""",
    "sesotho": """
        ho le ya ba ka e ha ke tsa la wa o mme hore di bo hae sa tse ena tla ntse bona empa kapa kgotsa hona
        teng jwalo""",
    "spanish": """
        de la que el en y a los del se las por un para con no una su al lo como más es pero sus le ha o este
        sobre fue entre también son""",
    "swedish": """
        och i att en det som på är av för med den till inte har de ett var om han men sig från vi jag så kan
        eller efter vid hon ska också detta""",
    "tamil": """
        ஒரு என்று மற்றும் இந்த என்ற அவர் என இது அந்த போது உள்ள அது வேண்டும் தான் என்ன இருந்து பின்னர் மிகவும்
        அவர்கள் இல்லை ஆகும் போன்ற கொண்டு""",
    "turkish": """
        ve bir bu da de için ile çok ne o gibi daha olan olarak kadar sonra en mi ama var ki her ya değil ben
        veya oldu olduğu göre""",
    "yiddish": """
        און די דער איז אין צו פון דאָס מיט אַז ניט אויף זיך האָט ער זי פאַר אַ עס אָבער זענען וואָס איך נישט
        האָבן געווען""",
}

FUNCTION_WORDS: dict[str, frozenset[str]] = {name: frozenset(split_lowered(words)) for name, words in _LISTS.items()}
"""By the name of PyStemmer's algorithm."""
